import Testing

/// The fuzzers' entries with what fuzzing begins with; `Tests/Fuzz/run` is what looks for more.
@Suite("Fuzz entries") struct FuzzTests {
    private static let seeds = Result { try CaptureSeeds() }

    @Test("Every entry keeps its promises for its seeds and their beginnings", arguments: FuzzEntry.all.map(\.name))
    func seeds(_ name: String) throws {
        let entry = try #require(FuzzEntry.named(name))
        let seeds = try entry.seeds(Self.seeds.get())
        #expect(!seeds.isEmpty)
        for seed in seeds.prefix(6) {
            #expect(seed.count <= entry.largest)
            for size in [seed.count, seed.count * 2 / 3, seed.count / 7, 1, 0] {
                #expect(throws: Never.self, "\(size) bytes of a seed") { try entry.run(Array(seed.prefix(size))) }
            }
        }
    }

    @Test("Names are words, and each is one entry's") func names() {
        let names = FuzzEntry.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } })
    }
}
