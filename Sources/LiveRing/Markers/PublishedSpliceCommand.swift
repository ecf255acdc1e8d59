import Playlist
package import Support

/// A splice command in the media (SCTE 35 §9), with published dates.
package struct PublishedSpliceCommand: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// An ad break begins. With `autoReturn` it ends after its duration without another command.
        case out(autoReturn: Bool)
        /// An ad break ends. With `endsAnyEvent` the command is a splice_insert, which need not name the event it ends.
        case `in`(endsAnyEvent: Bool)
        /// Any other command.
        case command
        /// An announced event is canceled.
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
