import Splice

/// What a channel's line keeps of one source: the splice of its renditions, and what was told of it already.
struct SourceLine: Sendable {
    let hasAudioRendition: Bool
    var engine: SpliceEngine
    private var programmes: [SourceRendition: ProgramSelection] = [:]
    private var refusal: SpliceError?
    private var soundRefusal: SpliceError?

    init(_ configuration: SpliceEngine.Configuration) {
        hasAudioRendition = configuration.hasAudioRendition
        engine = SpliceEngine(configuration)
    }

    /// Programmes of transport streams that are followed since this was asked last.
    mutating func newsOfProgrammes() -> [ChannelLine.Event] {
        var events: [ChannelLine.Event] = []
        for rendition in [SourceRendition.main, .audio] {
            guard let now = engine.programme(of: rendition), now != programmes[rendition] else { continue }
            programmes[rendition] = now
            events.append(.programme(now, of: rendition))
        }
        return events
    }

    /// What was left out since this was asked last, and why.
    mutating func newsOfRefusals() -> [ChannelLine.Event] {
        var events: [ChannelLine.Event] = []
        if let refused = engine.refusal, refused != refusal { events.append(.runRefused(refused)) }
        refusal = engine.refusal
        if let refused = engine.soundRefusal, refused != soundRefusal { events.append(.soundRefused(refused)) }
        soundRefusal = engine.soundRefusal
        return events
    }
}
