import Playlist
package import Support

/// The segment that is published next, for the placement of ad markers.
package struct AdMarkerTarget: Equatable, Sendable {
    /// The published time of its first frame.
    package var date: ProgramDateTime
    /// The upstream segments that begin in it, in order.
    package var placements: [AdMarkerPlacement]
    package var splices: [PublishedSpliceCommand]

    package init(date: ProgramDateTime, placements: [AdMarkerPlacement] = [], splices: [PublishedSpliceCommand] = []) {
        self.date = date
        self.placements = placements
        self.splices = splices
    }
}

/// The place where an upstream segment begins in the published media.
package struct AdMarkerPlacement: Equatable, Sendable {
    /// The media sequence number of the upstream.
    package var mediaSequence: UInt64
    /// The published time of its first frame.
    package var date: ProgramDateTime
    /// The time of its first frame in the dates of the upstream; nil if the upstream has none.
    package var upstreamDate: ProgramDateTime?

    package init(mediaSequence: UInt64, date: ProgramDateTime, upstreamDate: ProgramDateTime? = nil) {
        self.mediaSequence = mediaSequence
        self.date = date
        self.upstreamDate = upstreamDate
    }
}

/// A splice command in the media (SCTE 35 §9), with published dates.
package struct PublishedSpliceCommand: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// An ad break begins. With `autoReturn` it ends after its duration without another command.
        case out(autoReturn: Bool)
        /// An ad break ends. With `endsAnyEvent` the command is a splice_insert, which need not name the event it ends.
        case `in`(endsAnyEvent: Bool)
        case command
        case canceled
    }

    package var kind: Kind
    package var eventID: UInt32?
    /// The published time to which the command applies.
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
