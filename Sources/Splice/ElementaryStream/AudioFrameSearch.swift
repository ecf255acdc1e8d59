/// Finds frames in a byte stream. A header counts at once only where the frame before it ends; anywhere else the one
/// after it must fit as well.
struct AudioFrameSearch: Sendable {
    enum Step: Equatable, Sendable {
        /// A frame; `isDoubted` when bytes were said to be missing inside, and the next header stands where it should.
        case take(AudioFrameHeader, isDoubted: Bool)
        /// No frame begins here.
        case search(from: Int)
        /// More bytes are needed to tell.
        case wait
    }

    private let framing: AudioFraming
    private var format: AudioFrameHeader.Format?
    /// The last step took a frame.
    private(set) var isInStep = false
    /// A frame that extends another was seen, so what follows a frame must be known before it is given.
    private var hasDependents = false

    init(framing: AudioFraming) { self.framing = framing }

    /// - Parameters:
    ///   - fault: where the next loss lies behind `offset`.
    ///   - isClosed: nothing will follow `bytes`.
    mutating func step(_ bytes: [UInt8], at offset: Int, fault: Int?, isClosed: Bool) -> Step {
        let step = judge(bytes, at: offset, fault: fault, isClosed: isClosed)
        switch step {
        case .take(let header, _):
            isInStep = true
            format = header.format
        case .search: isInStep = false
        case .wait: break
        }
        return step
    }

    private mutating func judge(_ bytes: [UInt8], at offset: Int, fault: Int?, isClosed: Bool) -> Step {
        let elsewhere = Step.search(from: offset + 1)
        var header: AudioFrameHeader
        switch framing.header(bytes, at: offset, end: bytes.count) {
        case .none: return elsewhere
        case .needsMore: return fault == nil ? .wait : elsewhere
        case .frame(let found): header = found
        }
        guard joinDependents(&header, bytes, at: offset, isClosed: isClosed) else { return .wait }
        let next = offset + header.size
        let isDoubted = fault.map { $0 < next } ?? false
        if header.isDependent {
            // It extends a frame that was given already, or an AC-3 one, which has no room for it.
            header.use = .otherProgram
            guard isInStep, !isDoubted else { return elsewhere }
        }
        if isInStep, !isDoubted { return next <= bytes.count ? .take(header, isDoubted: false) : .wait }
        let afterLoss = Step.search(from: isInStep ? fault ?? offset + 1 : offset + 1)
        guard next <= bytes.count else { return isDoubted ? afterLoss : isClosed ? elsewhere : .wait }
        switch framing.header(bytes, at: next, end: bytes.count) {
        case .frame: return .take(header, isDoubted: isDoubted)
        case .needsMore where !isClosed: return .wait
        case .none where next == bytes.count && !isDoubted:
            return isClosed || header.format == format ? .take(header, isDoubted: false) : .wait
        case .needsMore where !isDoubted: return .take(header, isDoubted: false)
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
                header.join(next)
            case .needsMore: return isClosed || !hasDependents
            case .none: return isClosed || !hasDependents || offset + header.size < bytes.count
            case .frame: return true
            }
        }
        return true
    }
}
