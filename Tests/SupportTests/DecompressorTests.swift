import Testing

@testable import Support

/// Content that comes in parts, which end anywhere.
@Suite("Decompressor") struct DecompressorTests {
    private static let texts = ["", "one", "two two two"].map { Array($0.utf8) }

    /// What follows the members, in words, and as bytes.
    static let tails: [(what: String, bytes: [UInt8])] = [
        ("nothing", []), ("zeros", [0, 0, 0]), ("other bytes", [0x8B, 0x1F, 0x8B]),
    ]

    @Test("Members of gzip are one content, wherever its parts end", arguments: tails)
    func members(what: String, bytes: [UInt8]) throws {
        let compressed = try Self.texts.map { try #require(Gzip.compress($0)) }.flatMap { $0 } + bytes
        let content = Self.texts.flatMap { $0 }
        for end in 0...compressed.count {
            #expect(try decompressed([compressed[..<end], compressed[end...]]) == content, "\(what), cut at \(end)")
        }
    }

    @Test("Content that ends inside a member is damaged") func damaged() throws {
        let compressed = try #require(Gzip.compress(Self.texts[2]))
        #expect(throws: Decompressor.Failure.damaged) { try decompressed([compressed.dropLast()]) }
        #expect(throws: Decompressor.Failure.damaged) { try decompressed([(compressed + [0x1F, 0x8B])[...]]) }
    }

    #if DEBUG
        @Test("A canceled task inflates no more", arguments: [1, 8, 64])
        func cancellation(mebibytes: Int) async throws {
            let member = try #require(Gzip.compress([UInt8](repeating: 0x23, count: mebibytes << 20)))
            let whole = StepCounter.counter { _ = Gzip.decompress(member, limit: 64 << 20) }
            #expect(whole.steps == mebibytes << 20 && whole.stepsBetweenLooks <= 64 << 10)
            let counter = StepCounter { look in if look == 3 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } } }
            let canceled = await Task {
                StepCounter.$current.withValue(counter) { Gzip.decompress(member, limit: 64 << 20) }
            }.value
            #expect(canceled == .canceled && counter.steps == 128 << 10)
        }
    #endif

    private func decompressed(_ parts: [ArraySlice<UInt8>]) throws -> [UInt8] {
        var decompressor = Decompressor()
        var content: [UInt8] = []
        for (number, part) in (parts + [[]]).enumerated() {
            try decompressor.decompress(Array(part), isLast: number == parts.count) { bytes in
                content += bytes
                return true
            }
        }
        return content
    }

    /// Servers send deflate with the header of zlib, and without.
    @Test func deflateIsReadIfTheHeaderSaysSo() throws {
        let text = Array("the same words again and again and again".utf8)
        let raw = Array(try #require(Gzip.compress(text)).dropFirst(10).dropLast(8))
        for body in [raw, [0x78, 0x9C] + raw + Self.adler(text)] {
            #expect(Gzip.decompress(body, limit: 1000) == .notGzip)
            #expect(Gzip.decompress(body, limit: 1000, isDeflate: true) == .whole(text))
            #expect(Gzip.decompress(body, limit: 10, isDeflate: true) == .beyondLimit)
        }
        #expect(Gzip.decompress(Array("no deflate".utf8), limit: 1000, isDeflate: true) == .notGzip)
    }

    private static func adler(_ bytes: [UInt8]) -> [UInt8] {
        let (low, high) = bytes.reduce((1, 0)) { sums, byte in
            let low = (sums.0 + Int(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return [high >> 8, high & 255, low >> 8, low & 255].map { UInt8($0) }
    }
}
