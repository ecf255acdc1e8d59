/// A function that reads untrusted bytes, for a fuzzer: it accepts any bytes and checks the invariants of the result.
package struct FuzzEntry: Sendable {
    /// Name of lower-case letters, digits and dashes; also the name of the corpus.
    package let name: String
    /// One-line description of the input.
    package let about: String
    /// Largest input size in bytes. Longer inputs take longer and find nothing more.
    package let largest: Int
    package let dictionary: [FuzzWord]
    let bounds: FuzzBounds
    /// Initial inputs.
    package let seeds: @Sendable (CaptureSeeds) throws -> [[UInt8]]
    /// Runs the function on one input.
    ///
    /// Rejecting an input with a typed error is no finding. A trap ends the process, which the fuzzer detects.
    /// - Throws: `FuzzFinding` if an invariant is violated.
    package let run: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, _ about: String, largest: Int = 4096, dictionary: [FuzzWord] = [],
        bounds: FuzzBounds = FuzzBounds(),
        seeds: @escaping @Sendable (CaptureSeeds) throws -> [[UInt8]],
        run: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.about = about
        self.largest = largest
        self.dictionary = dictionary
        self.bounds = bounds
        self.seeds = seeds
        self.run = run
    }

    /// All entries, in the order of the pipeline.
    package static let all: [FuzzEntry] =
        PlaylistEntries.all + [ManifestEntry.entry] + TransportEntries.all + ElementaryEntries.all + MovieEntries.all
        + MetadataEntries.all
        + JournalEntry.all
        + [
            EngineEntry.entry, AdMarkerEntry.entry, SessionEntry.entry, AnswerEntry.entry,
            RequestEntry.entry, ChannelListEntry.entry, ConfigurationEntry.entry, GuideEntry.entry,
            DiscoveryEntry.entry, CompressionEntry.entry,
        ]

    package static func named(_ name: String) -> FuzzEntry? { all.first { $0.name == name } }
}

/// A violated invariant.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String
}

/// Throws a finding unless `condition` holds.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw FuzzFinding(description: message()) }
}
