import Media
import Support

/// Finds audio frames in a byte stream. A header right after a frame counts at once; anywhere else the header after it
/// must fit as well.
struct AudioFrameSync: Sendable {
    enum Step: Equatable, Sendable {
        /// A frame. `isSuspect`: bytes may be missing inside, although the next header is where it should be.
        case frame(AudioFrameHeader, isSuspect: Bool)
        case resync(from: Int)
        case needsMore
    }

    /// Frames that extend one frame: E-AC-3 has eight dependent substreams.
    static let dependentLimit = 8

    private let framing: AudioFraming
    private var format: AudioFrameHeader.Format?
    private(set) var isSynced = false
    /// Whether a dependent frame was seen. If so, a frame is complete only when the next header is known.
    private var hasDependents = false

    init(framing: AudioFraming) { self.framing = framing }

    /// - Parameters:
    ///   - loss: the offset of the next loss after `offset`.
    ///   - isClosed: whether the stream ends with `bytes`.
    mutating func nextStep(_ bytes: [UInt8], at offset: Int, loss: Int?, isClosed: Bool) -> Step {
        let step = classify(bytes, at: offset, loss: loss, isClosed: isClosed)
        switch step {
        case .frame(let header, _):
            isSynced = true
            format = header.format
        case .resync: isSynced = false
        case .needsMore: break
        }
        return step
    }

    private mutating func classify(_ bytes: [UInt8], at offset: Int, loss: Int?, isClosed: Bool) -> Step {
        StepCounter.add(1)
        let elsewhere = Step.resync(from: offset + 1)
        var header: AudioFrameHeader
        switch framing.header(bytes, at: offset, end: bytes.count) {
        case .none: return elsewhere
        case .needsMore: return loss == nil ? .needsMore : elsewhere
        case .frame(let found): header = found
        }
        guard mergeDependents(&header, bytes, at: offset, isClosed: isClosed) else { return .needsMore }
        let next = offset + header.size
        let isSuspect = loss.map { $0 < next } ?? false
        if header.isDependent {
            // It extends a frame that was already emitted, or an AC-3 frame, whose packet has no room for it.
            header.use = .otherProgram
            guard isSynced, !isSuspect else { return elsewhere }
        }
        if isSynced, !isSuspect { return next <= bytes.count ? .frame(header, isSuspect: false) : .needsMore }
        let afterLoss = Step.resync(from: isSynced ? loss ?? offset + 1 : offset + 1)
        guard next <= bytes.count else { return isSuspect ? afterLoss : isClosed ? elsewhere : .needsMore }
        switch framing.header(bytes, at: next, end: bytes.count) {
        case .frame: return .frame(header, isSuspect: isSuspect)
        case .needsMore where !isClosed: return .needsMore
        case .none where next == bytes.count && !isSuspect:
            return isClosed || header.format == format ? .frame(header, isSuspect: false) : .needsMore
        case .needsMore where !isSuspect: return .frame(header, isSuspect: false)
        case .none, .needsMore: return afterLoss
        }
    }

    /// Merges the dependent substreams of E-AC-3 into the preceding frame, up to the limit.
    /// - Returns: false if the following bytes are not here yet and may be a dependent frame.
    private mutating func mergeDependents(
        _ header: inout AudioFrameHeader, _ bytes: [UInt8], at offset: Int, isClosed: Bool
    ) -> Bool {
        guard header.format.codec == .eac3, !header.isDependent else { return true }
        var count = 0
        while count < Self.dependentLimit, offset + header.size <= bytes.count {
            StepCounter.add(1)
            switch framing.header(bytes, at: offset + header.size, end: bytes.count) {
            case .frame(let next) where next.isDependent:
                hasDependents = true
                count += 1
                header.merge(next)
            case .needsMore: return isClosed || !hasDependents
            case .none: return isClosed || !hasDependents || offset + header.size < bytes.count
            case .frame: return true
            }
        }
        return true
    }
}
