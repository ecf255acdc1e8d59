/// An ordinary thing that happens to a channel. A history is made of them.
enum Thing: String, CaseIterable, Hashable {
    // Traits of the channel, for its whole life.
    case undated, shortSegments, longSegments, unevenSegments, shortWindow, strictRemoval, reordered, otherFormat
    case signedURLs, encrypted, byteRanges, plainMaster, slowAnswers, countersGoOn, cueTags, backup
    case startsLate, fragmented, dash, clockDrift, earlyAvailability, redirects, prefixed, variants, subtitles
    // Audio in renditions of its own, and further languages.
    case companionAudio, secondLanguage, multiplexedLanguage, laggingLanguage, languageComes, languageEnds
    case lostLanguageSegment, lostCompanionSegment, lostSubtitleSegment
    // Media.
    case taggedBreak, untaggedBreak, lateTaggedBreak, insideBreak, repeatedAd, restampedBreak, falseTag
    case clockRestart, untaggedRestart, clockWrap, clockJump, clockBack, programChange, loop, encoderPause
    // Media of fragmented MP4.
    case zeroClock, refusedMap, goneMap
    // Numbers and names.
    case renumbered, renamed, encoderRestart, endedAndRestarted
    // Playlists.
    case stalePlaylist, laggingPlaylist, refusedPlaylist, pagePlaylist, cutPlaylist, slowPlaylist, tokenExpired
    // Segments.
    case refusedSegment, goneSegment, pageSegment, pageOnce, lateSegment, cutSegment, brokenSegment, gapSegment,
        damagedSegment, keyRefused
    // The host, the end, the process.
    case variantVanishes, variantRefused, edgeMoves, unreachable, longOutage, rateLimited, silent, excessLines, ended
    case killed, killedInPublish, longKill
    // An upstream that is one endless stream, and its connections.
    case rawStream, shortConnections, cutStream, refusedStream, stalledStream
    // SCTE-35 in the transport streams.
    case spliceCommands
    // The machine: it sleeps; its disk is slow, or takes nothing.
    case asleep, slowDisk, fullDisk
    // A rewind of some segments; the object store of an archive, which fails for a time.
    case shortRewind, store, storeFails

    /// How often it is drawn in comparison with others; traits are drawn one by one.
    var weight: Int {
        switch self {
        case .taggedBreak, .untaggedBreak, .repeatedAd, .goneSegment, .killed, .unreachable: 3
        case .cutStream: 4
        case .refusedStream, .stalledStream: 5
        case .insideBreak, .lateTaggedBreak, .refusedSegment, .stalePlaylist, .encoderRestart, .loop, .longOutage: 2
        // They exclude other things, or need one.
        case .renamed, .cutPlaylist, .languageComes, .languageEnds, .lostLanguageSegment, .tokenExpired,
            .renumbered, .killedInPublish:
            2
        case .zeroClock, .refusedMap, .goneMap, .variantVanishes, .variantRefused, .lostSubtitleSegment,
            .lostCompanionSegment,
            .storeFails:
            3
        default: 1
        }
    }

    var isTrait: Bool {
        switch self {
        case .undated, .shortSegments, .longSegments, .unevenSegments, .shortWindow, .strictRemoval, .reordered,
            .otherFormat, .signedURLs, .encrypted, .byteRanges, .plainMaster, .slowAnswers, .countersGoOn, .cueTags,
            .backup, .startsLate, .fragmented, .dash, .clockDrift, .earlyAvailability, .redirects, .prefixed, .variants,
            .subtitles, .companionAudio, .secondLanguage, .multiplexedLanguage, .laggingLanguage, .rawStream,
            .shortConnections, .spliceCommands, .shortRewind, .store:
            true
        default: false
        }
    }

    var isBreak: Bool {
        [.taggedBreak, .untaggedBreak, .lateTaggedBreak, .insideBreak, .repeatedAd, .restampedBreak].contains(self)
    }

    /// Things of which findings are open, with breaks, restarts and losses around them: `./test` leaves them out, and
    /// `Tests/Histories/run` does not.
    static let open: Set<Thing> = [
        .companionAudio, .secondLanguage, .laggingLanguage, .languageComes, .languageEnds, .lostLanguageSegment,
        .lostCompanionSegment, .backup, .dash, .clockDrift, .earlyAvailability, .variantVanishes, .subtitles,
        .lostSubtitleSegment, .rawStream, .shortConnections, .cutStream, .refusedStream, .stalledStream,
        .spliceCommands, .asleep, .slowDisk, .fullDisk, .prefixed,
        .damagedSegment,
    ]

    /// The trait without which it does not exist.
    var requirement: Thing? {
        switch self {
        case .laggingLanguage, .languageComes, .languageEnds, .lostLanguageSegment: .secondLanguage
        case .lostCompanionSegment: .companionAudio
        case .shortConnections, .cutStream, .refusedStream, .stalledStream: .rawStream
        case .zeroClock, .refusedMap, .goneMap, .dash: .fragmented
        case .clockDrift, .earlyAvailability: .dash
        case .edgeMoves: .redirects
        case .variantVanishes, .variantRefused: .variants
        case .lostSubtitleSegment: .subtitles
        case .storeFails: .store
        default: nil
        }
    }

    /// Whether it happens to the first segment that ends after its time.
    var isOfSegment: Bool {
        switch self {
        case .refusedSegment, .goneSegment, .pageSegment, .pageOnce, .lateSegment, .cutSegment, .brokenSegment,
            .gapSegment, .damagedSegment:
            true
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
        case .refusedMap: 2...6
        case .edgeMoves: 2...2
        case .variantVanishes, .variantRefused: 5...20
        case .goneMap: 1...6
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
        case .storeFails: 3...30
        default: 0...0
        }
    }

    /// The traits without which it does not exist.
    var requirements: [Thing] { requirement.map { [$0] + $0.requirements } ?? [] }

    /// Why two things, with what they require, cannot occur in one history; nil if they can.
    static func conflict(_ one: Thing, _ other: Thing) -> String? {
        for first in [one] + one.requirements {
            for second in [other] + other.requirements {
                if let reason = ownConflict(first, second) { return reason }
            }
        }
        return nil
    }

    private static func ownConflict(_ one: Thing, _ other: Thing) -> String? {
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
            case (.dash, .undated): return "a manifest dates all of its media"
            case (.dash, .encrypted), (.dash, .gapSegment), (.dash, .lateTaggedBreak):
                return "a manifest has no such tags"
            case (.dash, .byteRanges): return "a template names whole files"
            case (.subtitles, .plainMaster): return "renditions need a multivariant playlist"
            case (.subtitles, .dash): return "subtitles of a manifest are not followed"
            case (.subtitles, .backup): return "the backup has no renditions"
            case (.variants, .plainMaster): return "variants need a multivariant playlist"
            case (.variants, .dash): return "the ladder of a manifest has one template"
            case (.dash, .plainMaster), (.dash, .tokenExpired): return "a manifest is the only playlist"
            case (.dash, .renumbered): return "segments of a manifest are known by their times"
            case (.dash, .companionAudio), (.dash, .multiplexedLanguage): return "audio has a set of its own"
            case (.dash, .laggingLanguage), (.dash, .languageComes), (.dash, .languageEnds):
                return "one manifest has all sets"
            case (.dash, .backup): return "the backup has no renditions"
            case (.fragmented, .insideBreak): return "a segment of fragments has one init section"
            case (.fragmented, .spliceCommands): return "fragments have no sections"
            case (.fragmented, .countersGoOn): return "fragments have no continuity counters"
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
