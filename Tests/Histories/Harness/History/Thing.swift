/// An ordinary thing that happens to a channel. A history is made of them.
enum Thing: String, CaseIterable, Hashable {
    // Traits of the channel, for its whole life.
    case undated, shortSegments, longSegments, unevenSegments, shortWindow, strictRemoval, reordered, otherFormat
    case signedURLs, encrypted, byteRanges, plainMaster, slowAnswers, countersGoOn, cueTags, backup
    case startsLate
    // Audio in renditions of its own, and further languages.
    case companionAudio, secondLanguage, multiplexedLanguage, laggingLanguage, languageComes, languageEnds
    case lostLanguageSegment, lostCompanionSegment
    // Media.
    case taggedBreak, untaggedBreak, lateTaggedBreak, insideBreak, repeatedAd, falseTag
    case clockRestart, untaggedRestart, clockWrap, clockJump, clockBack, programChange, loop, encoderPause
    // Numbers and names.
    case renumbered, renamed, encoderRestart, endedAndRestarted
    // Playlists.
    case stalePlaylist, laggingPlaylist, refusedPlaylist, pagePlaylist, cutPlaylist, slowPlaylist, tokenExpired
    // Segments.
    case refusedSegment, goneSegment, pageSegment, lateSegment, cutSegment, brokenSegment, gapSegment, keyRefused
    // The host, the end, the process.
    case unreachable, longOutage, rateLimited, silent, excessLines, ended, killed, killedInPublish, longKill
    // An upstream that is one endless stream, and its connections.
    case rawStream, shortConnections, cutStream, refusedStream, stalledStream
    // SCTE-35 in the transport streams.
    case spliceCommands
    // The machine: it sleeps; its disk is slow, or takes nothing.
    case asleep, slowDisk, fullDisk

    /// How often it is drawn in comparison with others.
    var weight: Int {
        switch self {
        case .taggedBreak, .untaggedBreak, .repeatedAd, .goneSegment, .killed, .unreachable: 3
        case .cutStream: 4
        case .shortConnections, .refusedStream, .stalledStream: 2
        case .insideBreak, .lateTaggedBreak, .refusedSegment, .stalePlaylist, .encoderRestart, .loop, .longOutage: 2
        default: 1
        }
    }

    var isTrait: Bool {
        switch self {
        case .undated, .shortSegments, .longSegments, .unevenSegments, .shortWindow, .strictRemoval, .reordered,
            .otherFormat, .signedURLs, .encrypted, .byteRanges, .plainMaster, .slowAnswers, .countersGoOn, .cueTags,
            .backup,
            .startsLate, .companionAudio,
            .secondLanguage, .multiplexedLanguage, .laggingLanguage, .rawStream, .shortConnections,
            .spliceCommands:
            true
        default: false
        }
    }

    var isBreak: Bool { [.taggedBreak, .untaggedBreak, .lateTaggedBreak, .insideBreak, .repeatedAd].contains(self) }

    /// Things of which findings are open, with breaks, restarts and losses around them: `./test` leaves them out, and
    /// `Tests/Histories/run` does not.
    static let open: Set<Thing> = [
        .companionAudio, .secondLanguage, .laggingLanguage, .languageComes, .languageEnds, .lostLanguageSegment,
        .lostCompanionSegment, .backup, .rawStream, .shortConnections, .cutStream, .refusedStream, .stalledStream,
        .spliceCommands, .asleep, .slowDisk, .fullDisk,
    ]

    /// The trait without which it does not exist.
    var requirement: Thing? {
        switch self {
        case .laggingLanguage, .languageComes, .languageEnds, .lostLanguageSegment: .secondLanguage
        case .lostCompanionSegment: .companionAudio
        case .shortConnections, .cutStream, .refusedStream, .stalledStream: .rawStream
        default: nil
        }
    }

    /// Whether it happens to the first segment that ends after its time.
    var isOfSegment: Bool {
        switch self {
        case .refusedSegment, .goneSegment, .pageSegment, .lateSegment, .cutSegment, .brokenSegment, .gapSegment: true
        default: false
        }
    }

    /// Whether it happens to a segment of an audio rendition.
    var isOfRendition: Bool { [.lostLanguageSegment, .lostCompanionSegment].contains(self) }

    /// Seconds for which it lasts.
    var durations: ClosedRange<Int> {
        switch self {
        case .stalePlaylist: 3...9
        case .laggingPlaylist: 3...8
        case .refusedPlaylist: 2...9
        case .pagePlaylist, .cutPlaylist: 2...5
        case .slowPlaylist: 3...10
        case .keyRefused: 3...6
        case .unreachable: 3...12
        case .longOutage: 14...26
        case .rateLimited: 2...8
        case .silent: 5...12
        case .excessLines: 4...12
        case .encoderPause: 4...14
        case .encoderRestart: 1...4
        case .endedAndRestarted: 2...5
        case .killed, .killedInPublish: 1...3
        case .longKill: 10...25
        case .refusedStream: 1...9
        case .stalledStream: 2...20
        case .asleep: 5...40
        case .slowDisk: 1...6
        case .fullDisk: 3...15
        default: 0...0
        }
    }

    /// Why two things cannot occur in one history; nil if they can.
    static func conflict(_ one: Thing, _ other: Thing) -> String? {
        for (first, second) in [(one, other), (other, one)] {
            if first.isOfStream, second.needsPlaylist { return "a stream has no playlist" }
            switch (first, second) {
            case (.shortSegments, .longSegments): return "a channel has one length of segments"
            case (.undated, .renamed): return "nothing tells that media under other numbers and names is known"
            case (.undated, .cutPlaylist):
                return "nothing tells a playlist that is cut from an encoder that begins again"
            case (.backup, .companionAudio), (.backup, .secondLanguage), (.backup, .multiplexedLanguage),
                (.backup, .laggingLanguage), (.backup, .languageComes), (.backup, .languageEnds),
                (.backup, .lostLanguageSegment), (.backup, .lostCompanionSegment):
                return "the backup has no renditions"
            case (.cueTags, .spliceCommands): return "markers of two kinds for one break become one date range"
            case (.reordered, .otherFormat): return "a program begins in one format"
            case (.plainMaster, .companionAudio), (.plainMaster, .secondLanguage), (.plainMaster, .laggingLanguage),
                (.plainMaster, .languageComes), (.plainMaster, .languageEnds), (.plainMaster, .lostLanguageSegment),
                (.plainMaster, .lostCompanionSegment):
                return "renditions need a multivariant playlist"
            case (.multiplexedLanguage, .companionAudio), (.multiplexedLanguage, .secondLanguage),
                (.multiplexedLanguage, .laggingLanguage), (.multiplexedLanguage, .languageComes),
                (.multiplexedLanguage, .languageEnds), (.multiplexedLanguage, .lostLanguageSegment),
                (.multiplexedLanguage, .lostCompanionSegment):
                return "languages are multiplexed, or renditions"
            default: continue
            }
        }
        return nil
    }
}

/// A thing in a history.
struct Event: Hashable {
    let thing: Thing
    /// Milliseconds since the channel began; 0 for a trait.
    var at: Int
    /// Chance for everything else about it.
    var value: UInt64
    /// Milliseconds.
    var duration: Int

    var end: Int { at + duration }

    /// A number that depends on the value alone.
    func pick(_ range: ClosedRange<Int>, _ salt: UInt64 = 0) -> Int {
        var mixed = (value ^ salt &* 0x9E37_79B9_7F4A_7C15) &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return range.lowerBound + Int(mixed % UInt64(range.count))
    }
}
