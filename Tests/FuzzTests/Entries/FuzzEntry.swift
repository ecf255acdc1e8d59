/// One thing that takes bytes from strangers, as a fuzzer drives it: any bytes in, and nothing but what it promises out.
package struct FuzzEntry: Sendable {
    /// A word of lower-case letters, digits and dashes, which is also the name of its corpus.
    package let name: String
    /// What it takes, in a line.
    package let about: String
    /// Bytes that an input has at most: what is longer finds nothing that shorter does not, and takes longer.
    package let largest: Int
    /// Words that a fuzzer would have to guess letter by letter.
    package let dictionary: [String]
    /// Inputs to start from.
    package let seeds: @Sendable (CaptureSeeds) throws -> [[UInt8]]
    /// - Throws: `FuzzFinding` when something does not hold. Input that is refused is no finding, but must be refused by
    ///   a typed error; a trap ends the process, and the fuzzer sees it.
    package let run: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, _ about: String, largest: Int = 4096, dictionary: [String] = [],
        seeds: @escaping @Sendable (CaptureSeeds) throws -> [[UInt8]],
        run: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.about = about
        self.largest = largest
        self.dictionary = dictionary
        self.seeds = seeds
        self.run = run
    }

    /// In the order in which the bytes go through the line.
    package static let all: [FuzzEntry] =
        PlaylistEntries.all + TransportEntries.all + ElementaryEntries.all + MovieEntries.all + MetadataEntries.all
        + [EngineEntry.entry, AdMarkerEntry.entry, JournalEntry.entry, RequestEntry.entry]

    package static func named(_ name: String) -> FuzzEntry? { all.first { $0.name == name } }
}

/// A promise that was not kept, in words.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String
}

/// - Throws: unless `holds`.
func demand(_ holds: Bool, _ words: @autoclosure () -> String) throws {
    guard holds else { throw FuzzFinding(description: words()) }
}
