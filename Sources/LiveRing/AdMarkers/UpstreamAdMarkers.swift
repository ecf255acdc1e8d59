package import Playlist

/// What an upstream's playlist says with one of its segments.
package struct UpstreamAdMarkers: Equatable, Sendable {
    package var mediaSequence: UInt64
    package var cueTags: [CueTag]
    /// Those that stand with it, and those that came with it and stand with no other.
    package var dateRanges: [DateRange]
    /// Tags that are neither of the draft nor cue marks: nobody knows whether they would be true of our segments.
    package var otherTags: Int

    package init(mediaSequence: UInt64, cues: [CueTag] = [], dateRanges: [DateRange] = [], otherTags: Int = 0) {
        self.mediaSequence = mediaSequence
        self.cueTags = cues
        self.dateRanges = dateRanges
        self.otherTags = otherTags
    }
}

/// Where an upstream segment begins in what is published.
package struct AdMarkerPlacement: Equatable, Sendable {
    /// The upstream's.
    package var mediaSequence: UInt64
    /// Of its first picture, as published.
    package var date: ProgramDateTime
    /// The same as the upstream dates it; nil where it does not.
    package var upstreamDate: ProgramDateTime?

    package init(mediaSequence: UInt64, date: ProgramDateTime, upstreamDate: ProgramDateTime? = nil) {
        self.mediaSequence = mediaSequence
        self.date = date
        self.upstreamDate = upstreamDate
    }
}

/// A splice command found in the media (SCTE 35 §9).
package struct PublishedSpliceCommand: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A break begins. `returnsByItself`: and is over after its duration, without a word.
        case out(returnsByItself: Bool)
        /// A break is over. `ofAnyEvent`: a splice_insert, which need not name the event that it ends.
        case `in`(ofAnyEvent: Bool)
        /// Neither.
        case command
        /// What was announced is not going to happen.
        case canceled
    }

    package var kind: Kind
    package var eventID: UInt32?
    /// As published, of the moment it speaks of.
    package var date: ProgramDateTime
    package var duration: Duration?
    /// The whole splice_info_section.
    package var section: [UInt8]

    package init(
        _ kind: Kind, eventID: UInt32?, date: ProgramDateTime, duration: Duration? = nil, section: [UInt8]
    ) {
        self.kind = kind
        self.eventID = eventID
        self.date = date
        self.duration = duration
        self.section = section
    }
}

/// A segment about to be published, as far as marks are concerned.
package struct AdMarkerTarget: Equatable, Sendable {
    /// Of its first picture.
    package var date: ProgramDateTime
    /// Upstream segments that begin in it, in order.
    package var placements: [AdMarkerPlacement]
    package var splices: [PublishedSpliceCommand]

    package init(date: ProgramDateTime, placements: [AdMarkerPlacement] = [], splices: [PublishedSpliceCommand] = []) {
        self.date = date
        self.placements = placements
        self.splices = splices
    }
}

/// What became of the upstream's marks, summed over the channel.
package struct AdMarkerCounts: Encodable, Equatable, Sendable {
    /// Cue lines passed on.
    package var cueTags = 0
    /// EXT-X-DATERANGE tags written: ranges, and what was told of them later.
    package var dateRanges = 0
    /// Ranges that were over before the first segment published.
    package var expiredRanges = 0
    /// Ranges without a START-DATE that can be read.
    package var unreadableRanges = 0
    /// Attributes that the upstream changed: what was told of a range cannot be told otherwise (RFC 8216 §4.3.2.7).
    package var attributesChanged = 0
    /// Ends of breaks that never began.
    package var unmatchedBreakEnds = 0
    /// Tags of nobody's standard.
    package var otherTags = 0
    /// Marks of segments that gave no picture for too long.
    package var unplacedMarkers = 0

    package init() {}

    /// The published names.
    private enum CodingKeys: String, CodingKey {
        case cueTags, dateRanges
        case expiredRanges = "expiredDateRanges"
        case unreadableRanges = "malformedDateRanges"
        case attributesChanged = "changedDateRangeAttributes"
        case unmatchedBreakEnds = "unpairedBreakEnds"
        case otherTags
        case unplacedMarkers = "unplaced"
    }

    package static func + (left: AdMarkerCounts, right: AdMarkerCounts) -> AdMarkerCounts {
        var sum = left
        let fields: [WritableKeyPath<AdMarkerCounts, Int>] = [
            \.cueTags, \.dateRanges, \.expiredRanges, \.unreadableRanges, \.attributesChanged, \.unmatchedBreakEnds,
            \.otherTags, \.unplacedMarkers,
        ]
        for field in fields { sum[keyPath: field] += right[keyPath: field] }
        return sum
    }
}
