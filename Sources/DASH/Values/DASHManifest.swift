package import Playlist
package import Support

/// A DASH manifest (ISO/IEC 23009-1) as values: what media there is, and when it becomes available.
///
/// Times on the *presentation timeline* begin at `availabilityStartTime`; of a static manifest, at its beginning.
package struct DASHManifest: Equatable, Sendable {
    /// Whether media is added or becomes available while time passes.
    package var isDynamic = false
    package var availabilityStartTime: ProgramDateTime?
    package var publishTime: ProgramDateTime?
    /// The time for which the manifest holds; nil: it does not change any more.
    package var minimumUpdatePeriod: Duration?
    package var timeShiftBufferDepth: Duration?
    /// The time at which the presentation ends; nil if unknown.
    package var presentationDuration: Duration?
    /// The absolute URL at which later manifests are; nil: where this one is.
    package var location: String?
    /// How the time is learned, in the order of preference. Unknown ways are left out.
    package var clocks: [ClockSource] = []
    /// In the order of their starts.
    package var periods: [Period] = []
    /// The parts that were left out, in order.
    package var irregularities: [PlaylistError] = []
    /// Why the first representation that cannot be followed was left out; nil if none was.
    package var mediaFault: PlaylistError?

    /// A period: an advertisement, or the program between two of them.
    package struct Period: Equatable, Sendable {
        /// The `id`, or the start if there is none.
        package var key: String
        /// On the presentation timeline.
        package var start: Duration
        /// nil for a last period that is open.
        package var end: Duration?
        package var video: [AdaptationSet] = []
        package var audio: [AdaptationSet] = []
        package var events: [SpliceEvent] = []
    }

    package struct AdaptationSet: Equatable, Sendable {
        package var language: String?
        package var label: String?
        package var isMain = false
        package var channels: String?
        package var representations: [Representation] = []
    }

    package struct Representation: Equatable, Sendable {
        package var id: String
        package var bandwidth: Int
        /// As written, separated by commas.
        package var codecs: String
        package var resolution: Variant.Resolution?
        /// Frames per second as a decimal number.
        package var frameRate: String?
        /// Absolute URLs with the same content, at least one.
        package var baseURLs: [String]
        package var addressing: SegmentAddressing
        /// The key that the media needs; nil if the media is clear.
        package var protection: SegmentKey?

        /// Bytes of the longest URL that a template makes for it, before the base URL is put in front; 0 without a template.
        var longestURL: Int {
            var templates: [URLTemplate] = []
            if case .template(let media) = addressing.segments { templates.append(media) }
            if case .template(let initialization) = addressing.initialization { templates.append(initialization) }
            return templates.map { $0.text(id: id, bandwidth: bandwidth, number: .max, time: .max).utf8.count }.max()
                ?? 0
        }

        package var coding: Coding { Coding(codecs: codecs, resolution: resolution) }
    }

    /// How a representation is coded, as far as the manifest says it. Different ones need different init sections.
    package struct Coding: Equatable, Sendable {
        package var codecs = ""
        package var resolution: Variant.Resolution?
    }

    /// A splice command in an EventStream.
    package struct SpliceEvent: Equatable, Sendable {
        /// On the presentation timeline.
        package var time: Duration
        package var duration: Duration?
        package var section: [UInt8]
    }

    /// UTCTiming.
    package enum ClockSource: Equatable, Sendable {
        case date(ProgramDateTime)
        /// An absolute URL whose body is the date.
        case body(url: String)
        /// An absolute URL whose Date header is the date.
        case header(url: String)
    }
}
