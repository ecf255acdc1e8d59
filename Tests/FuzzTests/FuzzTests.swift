import FuzzEntries
import Testing

/// Runs the fuzz entries with their seeds. `Tests/Fuzz/run` searches further.
@Suite("Fuzz entries") struct FuzzTests {
    private static let seeds = Result { try CaptureSeeds() }

    @Test("Every entry accepts its seeds and their prefixes", arguments: FuzzEntry.all.map(\.name))
    func entryAcceptsSeeds(_ name: String) throws {
        let entry = try #require(FuzzEntry.named(name))
        let seeds = try entry.seeds(Self.seeds.get())
        #expect(!seeds.isEmpty)
        // All that are small, and some of the captures.
        for seed in seeds.filter({ $0.count < 2000 }) + seeds.filter({ $0.count >= 2000 }).prefix(6) {
            for size in [seed.count, seed.count * 2 / 3, seed.count / 7, 1, 0] {
                #expect(throws: Never.self, "\(size) bytes of a seed") { try entry.run(Array(seed.prefix(size))) }
            }
        }
    }

    /// Many entries choose what they do by their first byte.
    @Test("Every entry accepts any first byte", arguments: FuzzEntry.all.map(\.name))
    func entryAcceptsFirstBytes(_ name: String) throws {
        let entry = try #require(FuzzEntry.named(name))
        let rest = try entry.seeds(Self.seeds.get()).first?.dropFirst().prefix(100) ?? []
        for first in UInt8.min...UInt8.max {
            #expect(throws: Never.self, "first byte \(first)") { try entry.run([first] + rest) }
        }
    }

    @Test("libFuzzer keeps all words of the dictionaries", arguments: FuzzEntry.all.map(\.name))
    func wordsAreKept(_ name: String) throws {
        for word in try #require(FuzzEntry.named(name)).dictionary {
            #expect(!word.bytes.isEmpty && word.bytes.count <= FuzzWord.longest, "\(word.quoted)")
        }
    }

    @Test("Names are unique and lower-case") func namesAreUnique() {
        let names = FuzzEntry.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } })
    }
}
