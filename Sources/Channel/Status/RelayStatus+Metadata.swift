package import LiveRing
package import Splice

extension RelayStatus {
    /// The counts of all WebVTT renditions of the channel.
    package struct Subtitles: Encodable, Equatable, Sendable {
        package internal(set) var counts = SubtitleCounts()
        /// Names of the renditions.
        package internal(set) var renditions: [String] = []
        package internal(set) var undecryptableSegments = 0
        package internal(set) var filesNotWritten = 0

        private enum CodingKeys: String, CodingKey { case renditions, undecryptableSegments, filesNotWritten }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(renditions, forKey: .renditions)
            try container.encode(undecryptableSegments, forKey: .undecryptableSegments)
            try container.encode(filesNotWritten, forKey: .filesNotWritten)
        }
    }

    /// The counts of ad markers and of timed metadata.
    package struct AdMarkers: Encodable, Equatable, Sendable {
        package internal(set) var counts = AdMarkerCounts()
        package internal(set) var timedMetadata = TimedMetadata()
        /// Cue tags that a playlist added to segments which had been fetched already.
        package internal(set) var lateCueTags = 0

        private enum CodingKeys: String, CodingKey { case lateCueTags }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            try timedMetadata.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(lateCueTags, forKey: .lateCueTags)
        }
    }

    /// The splice's counts of timed metadata and of dates.
    package struct TimedMetadata: Encodable, Equatable, Sendable {
        package internal(set) var eventMessages = 0
        package internal(set) var duplicateEventMessages = 0
        package internal(set) var discardedTimedMetadata = 0
        package internal(set) var ignoredProgramDateTimes = 0

        init() {}

        init(_ counts: SpliceCounts) {
            eventMessages = counts.messagesWritten
            duplicateEventMessages = counts.duplicateMessages
            discardedTimedMetadata = counts.metadataDiscarded
            ignoredProgramDateTimes = counts.datesRejected
        }
    }
}
