package import Playlist
package import Support

/// The options of a channel as its configuration states them. nil: as on the command line.
@dynamicMemberLookup
package struct ChannelOptions: Sendable {
    private var values: [ConfigurationKey: any Hashable & Sendable] = [:]
    /// Whether a request made the channel, so that it ends with the process and its kept media cannot be requested
    /// later.
    package var isTemporary = false

    package init() {}

    /// The type of a key's value.
    package struct Field<Value: Hashable & Sendable>: Sendable {
        fileprivate let key: ConfigurationKey
        fileprivate init(_ key: ConfigurationKey) { self.key = key }
    }

    /// The properties of `ChannelOptions`. The rows of their keys describe them.
    package struct Fields: Sendable {
        let name = Field<String>(.name)
        let groups = Field<[String]>(.group)
        let logo = Field<String>(.logo)
        let number = Field<String>(.number)
        let guideID = Field<String>(.guideID)
        let guideName = Field<String>(.guideName)
        let guideShift = Field<String>(.guideShift)
        let isRadio = Field<Bool>(.radio)
        package let account = Field<String>(.account)
        package let variant = Field<VariantChoice>(.variant)
        package let variants = Field<String>(.variants)
        package let program = Field<Int>(.program)
        package let hold = Field<Duration>(.hold)
        package let loop = Field<Bool>(.loop)
        package let multicastInterface = Field<String>(.multicastInterface)
        package let maxConnections = Field<Int>(.maxConnections)
        package let isPolite = Field<Bool>(.polite)
        package let memoryLimitBytes = Field<Int>(.memoryLimit)
        package let maxSegmentBytes = Field<Int>(.maxSegment)
        package let maxPlaylistBytes = Field<Int>(.maxPlaylist)
        package let deniesPrivate = Field<Bool>(.denyPrivate)
        package let permittedAddresses = Field<[String]>(.allowAddress)
        package let giveUp = Field<Duration>(.giveUp)
        package let patience = Field<Duration>(.patience)
        package let audio = Field<String>(.audio)
        package let audioTracks = Field<String>(.audioTracks)
        package let fillsSilence = Field<Bool>(.fillSilence)
        package let captionsToWebVTT = Field<Bool>(.captionsToWebVTT)
        package let requiredMedia = Field<String>(.require)
        package let slate = Field<String>(.slate)
        package let ads = Field<String>(.ads)
        package let interstitials = Field<String>(.interstitials)
        package let window = Field<Duration>(.window)
        /// Length of the rewind, by `dvr` or `rewind`.
        package let rewind = Field<Duration>(.dvr)
        /// Whether the rewind is kept before anybody watches.
        package let keepsRewind = Field<Bool>(.rewind)
        package let archive = Field<Duration>(.archive)
        package let archiveSize = Field<Int>(.archiveSize)
        package let archiveStore = Field<StoreOptions>(.archiveStore)
        package let redirectsArchive = Field<Bool>(.archiveRedirect)
        package let offersStills = Field<Bool>(.stills)
        package let checksOutput = Field<Bool>(.check)
        package let burst = Field<Duration>(.burst)
        package let spool = Field<String>(.spool)
        package let capture = Field<String>(.capture)
        package let recordTo = Field<RecordingPattern>(.recordTo)
        package let split = Field<RecordingSplit>(.split)
        /// The clock of the dates in the paths of recordings, and of their split.
        package let recordingClock = Field<LocalClock>(.timeZone)
        package let recordsSlate = Field<Bool>(.recordSlate)
        let recordAds = Field<String>(.recordAds)
        package let keep = Field<Duration>(.keep)
        package let keepSize = Field<Int>(.keepSize)
        /// The tokens of the channel; a viewer needs one of them, or a token of the server. nil: as the server's other
        /// channels.
        package let tokens = Field<[Secret]>(.tokens)
        package let isAlways = Field<Bool>(.always)
        package let idle = Field<Duration>(.idle)
    }

    private static let fields = Fields()

    package subscript<Value>(dynamicMember field: KeyPath<Fields, Field<Value>>) -> Value? {
        get { values[Self.fields[keyPath: field].key] as? Value }
        set { values[Self.fields[keyPath: field].key] = newValue }
    }

    subscript(key: ConfigurationKey) -> (any Hashable & Sendable)? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// Whether the channel runs without viewers: if its configuration says so, or if it records, or keeps its rewind or
    /// an archive.
    package var runsAlways: Bool {
        self.isAlways
            ?? (self.capture != nil || self.recordTo != nil || self.keepsRewind == true || self.archive != nil
                || self.archiveSize != nil || self.archiveStore != nil)
    }

    /// The treatment of ad breaks in recordings; nil: the configuration does not say it.
    package var recordingAds: RecordingAds? { self.recordAds.flatMap { RecordingAds(rawValue: $0) } }

    /// These options, with `defaults` for the missing ones.
    package func filled(from defaults: ChannelOptions) -> ChannelOptions {
        var options = self
        options.values.merge(defaults.values) { own, _ in own }
        return options
    }

    /// These options without the ones that describe the channel to people and guides.
    var withoutDescription: ChannelOptions { keeping { !ConfigurationKey.descriptions.contains($0) } }

    /// These options for a range of the channel's archive, which keeps all of its media and ends with its viewers.
    package func ofRange(lasting length: Duration) -> ChannelOptions {
        let unfit: Set<ConfigurationKey> = [
            .archive, .archiveSize, .archiveStore, .archiveRedirect, .spool, .capture, .recordTo, .slate, .loop, .hold,
        ]
        var options = keeping { !unfit.contains($0) }
        (options.isAlways, options.rewind, options.keepsRewind) = (false, length, nil)
        options.isTemporary = true
        return options
    }

    private func keeping(_ isKept: (ConfigurationKey) -> Bool) -> ChannelOptions {
        var options = self
        options.values = values.filter { isKept($0.key) }
        return options
    }

    /// These options, with the values of `other` for the keys that no request may set.
    package func keepingWhatOnlyFilesSay(of other: ChannelOptions) -> ChannelOptions {
        keeping { $0.isPermitted(in: .request) }.filled(from: other.keeping { !$0.isPermitted(in: .request) })
    }

    /// The value of a key as a configuration writes it; nil if it is not set, or if no request may set it.
    package func written(_ key: ConfigurationKey) -> (any Encodable & Sendable)? {
        guard key.isPermitted(in: .request) else { return nil }
        return switch (key.row.form, values[key]) {
        // `rewind` states the length too.
        case (_, _ as Duration) where key == .dvr && self.keepsRewind == true: nil
        case (.rewind, let isKept as Bool): isKept ? (self.rewind ?? .zero).secondsSpan : "when-watched"
        case (_, let span as Duration): span.secondsSpan
        case (.bytes, let count as Int): String(count)
        // More than 12 digits are not read back.
        case (.storage, let count as Int): count < 1 << 39 ? String(count) : "\(count >> 30)GiB"
        case (_, let count as Int): count
        case (_, let flag as Bool): flag
        case (_, let variant as VariantChoice): variant.text
        case (.text, let text as String), (.choice, let text as String): text
        default: nil
        }
    }
}

extension ChannelOptions: Equatable {
    package static func == (one: ChannelOptions, other: ChannelOptions) -> Bool {
        one.isTemporary == other.isTemporary
            && one.values.mapValues { AnyHashable($0) } == other.values.mapValues { AnyHashable($0) }
    }
}

extension Duration {
    /// `90s`: a duration in a configuration, which has whole seconds.
    fileprivate var secondsSpan: String { "\(components.seconds)s" }
}
