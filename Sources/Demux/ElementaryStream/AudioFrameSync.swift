import Media

/// Finds frames in a byte stream. A header counts at once only where the frame before it ends; anywhere else the one
/// after it must fit as well.
struct AudioFrameSync: Sendable {
    enum Step: Equatable, Sendable {
        /// A frame; `isDoubted` when bytes were said to be missing inside, and the next header stands where it should.
        case frame(AudioFrameHeader, isSuspect: Bool)
        /// No frame begins here.
        case resync(from: Int)
        /// More bytes are needed to tell.
        case needsMore
    }

    private let framing: AudioFraming
    private var format: AudioFrameHeader.Format?
    /// The last step took a frame.
    private(set) var isSynced = false
    /// A frame that extends another was seen, so what follows a frame must be known before it is given.
    private var hasDependents = false

    init(framing: AudioFraming) { self.framing = framing }

    /// - Parameters:
    ///   - fault: where the next loss lies behind `offset`.
    ///   - isClosed: nothing will follow `bytes`.
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
        let elsewhere = Step.resync(from: offset + 1)
        var header: AudioFrameHeader
        switch framing.header(bytes, at: offset, end: bytes.count) {
        case .none: return elsewhere
        case .needsMore: return loss == nil ? .needsMore : elsewhere
        case .frame(let found): header = found
        }
        guard joinDependents(&header, bytes, at: offset, isClosed: isClosed) else { return .needsMore }
        let next = offset + header.size
        let isDoubted = loss.map { $0 < next } ?? false
        if header.isDependent {
            // It extends a frame that was given already, or an AC-3 one, which has no room for it.
            header.use = .otherProgram
            guard isSynced, !isDoubted else { return elsewhere }
        }
        if isSynced, !isDoubted { return next <= bytes.count ? .frame(header, isSuspect: false) : .needsMore }
        let afterLoss = Step.resync(from: isSynced ? loss ?? offset + 1 : offset + 1)
        guard next <= bytes.count else { return isDoubted ? afterLoss : isClosed ? elsewhere : .needsMore }
        switch framing.header(bytes, at: next, end: bytes.count) {
        case .frame: return .frame(header, isSuspect: isDoubted)
        case .needsMore where !isClosed: return .needsMore
        case .none where next == bytes.count && !isDoubted:
            return isClosed || header.format == format ? .frame(header, isSuspect: false) : .needsMore
        case .needsMore where !isDoubted: return .frame(header, isSuspect: false)
        case .none, .needsMore: return afterLoss
        }
    }

    /// E-AC-3's dependent substreams and the extensions of DTS belong to the frame in front of them.
    /// - Returns: false when what follows is not here yet and may be one.
    private mutating func joinDependents(
        _ header: inout AudioFrameHeader, _ bytes: [UInt8], at offset: Int, isClosed: Bool
    ) -> Bool {
        guard [.eac3, .dts].contains(header.format.codec), !header.isDependent else { return true }
        while offset + header.size <= bytes.count {
            switch framing.header(bytes, at: offset + header.size, end: bytes.count) {
            case .frame(let next) where next.isDependent:
                hasDependents = true
                header.merge(next)
            case .needsMore: return isClosed || !hasDependents
            case .none: return isClosed || !hasDependents || offset + header.size < bytes.count
            case .frame: return true
            }
        }
        return true
    }
}
