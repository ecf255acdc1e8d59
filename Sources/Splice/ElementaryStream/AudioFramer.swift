/// From the byte stream of one PID to its audio frames.
///
/// A header counts at once only where the frame before it ends; anywhere else the one after it must fit as well.
struct AudioFramer: Sendable {
    private struct Frame {
        let configuration: AudioConfiguration
        var pts: Ticks?
        let isDamaged: Bool
        let payload: Range<Int>
    }

    private enum Step {
        case take(AudioFrameHeader, isDoubted: Bool)
        case search(from: Int)
        case wait
    }

    private let pid: UInt16
    private let framing: AudioFraming
    private var clock = AudioSampleClock()
    private var format: AudioFrameHeader.Format?
    private var configuration: AudioConfiguration?
    private var isInStep = false
    /// E-AC-3: a dependent substream was seen, so the frame after an independent one must be known before it is given.
    private var hasDependents = false
    private var frames: [Frame] = []
    /// Frames from this one on follow each other without a loss.
    private var stretch = 0

    init(pid: UInt16, framing: AudioFraming) {
        self.pid = pid
        self.framing = framing
    }

    /// Takes every whole frame out of `buffer` and leaves the beginning of the next there.
    /// - Parameter isClosed: nothing will ever continue it.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, isClosed: Bool, counts: inout DemuxCounts
    ) -> [AudioPacket] {
        var packets = PacketStartCursor()
        var lastTimed: Int?
        var faults = buffer.faults[...]
        var offset = 0
        scan: while offset < buffer.bytes.count {
            while let fault = faults.first, fault.offset <= offset {
                // Which frame is the first to begin in the packet around a loss cannot be known.
                lastTimed =
                    buffer.starts.lastIndex { $0.offset < fault.offset }.map { max($0, lastTimed ?? 0) } ?? lastTimed
                faults.removeFirst()
            }
            switch step(buffer.bytes, at: offset, fault: faults.first?.offset, isClosed: isClosed) {
            case .take(let header, let isDoubted):
                setClock(packets.packet(at: offset, in: buffer), of: buffer, &lastTimed)
                take(header, at: offset, of: buffer.bytes, isDoubted: isDoubted, counts: &counts)
                offset += header.size
            case .search(let next):
                if isInStep { counts.undecodable += 1 }
                isInStep = false
                clock.set(nil)
                stretch = frames.count
                offset = next
            case .wait: break scan
            }
        }
        if isClosed, offset < buffer.bytes.count {
            counts.abandoned += 1
            offset = buffer.bytes.count
        }
        let isUntimed = packets.packet(at: offset, in: buffer) != lastTimed
        return give(buffer.detachFirst(offset, keepsTimes: isUntimed))
    }

    /// The first frame that begins in a PES packet takes its time.
    private mutating func setClock(_ packet: Int?, of buffer: borrowing ElementaryBuffer, _ lastTimed: inout Int?) {
        guard let packet, packet != lastTimed else { return }
        lastTimed = packet
        guard let pts = buffer.starts[packet].pts else { return }
        if clock.now == nil { countBack(from: pts) }
        clock.set(pts)
    }

    /// After a loss the next time given says when the frames since then were due.
    private mutating func countBack(from pts: Ticks) {
        var samples: Int64 = 0
        for index in frames.indices[stretch...].reversed() {
            let format = frames[index].configuration
            samples += Int64(format.samplesPerFrame)
            let ago = (samples * Ticks.perSecond * 2 + Int64(format.sampleRate)) / (2 * Int64(format.sampleRate))
            frames[index].pts = (pts - Ticks(ago)).wire
        }
    }

    private mutating func step(_ bytes: [UInt8], at offset: Int, fault: Int?, isClosed: Bool) -> Step {
        let end = bytes.count
        guard case .frame(var header) = framing.header(bytes, at: offset, end: end) else {
            let mayBe = framing.header(bytes, at: offset, end: end) == .needsMore
            return mayBe && fault == nil ? .wait : .search(from: offset + 1)
        }
        guard joinDependents(&header, bytes, at: offset, isClosed: isClosed) else { return .wait }
        let next = offset + header.size
        let isDoubted = fault.map { $0 < next } ?? false
        guard next <= end else {
            return isDoubted ? .search(from: fault ?? offset + 1) : waitOrSearch(offset, isClosed)
        }
        if isInStep, !isDoubted, !header.isDependent { return .take(header, isDoubted: false) }
        switch framing.header(bytes, at: next, end: end) {
        case .frame where !header.isDependent: return .take(header, isDoubted: isDoubted)
        case .needsMore where !isClosed: return .wait
        case .none where next == end && !isDoubted:
            return isClosed || isFormatKnown(header) ? .take(header, isDoubted: false) : .wait
        default: return .search(from: isDoubted && isInStep ? fault ?? offset + 1 : offset + 1)
        }
    }

    /// A frame that reaches over the end of all bytes was cut off, or is no frame at all.
    private func waitOrSearch(_ offset: Int, _ isClosed: Bool) -> Step {
        isClosed && !isInStep ? .search(from: offset + 1) : .wait
    }

    private func isFormatKnown(_ header: AudioFrameHeader) -> Bool { header.format == format }

    /// E-AC-3: dependent substreams belong to the independent frame in front of them.
    /// - Returns: false when what follows is not here yet and may be one.
    private mutating func joinDependents(
        _ header: inout AudioFrameHeader, _ bytes: [UInt8], at offset: Int, isClosed: Bool
    ) -> Bool {
        guard header.format.codec == .eac3, !header.isDependent else { return true }
        while offset + header.size <= bytes.count {
            switch framing.header(bytes, at: offset + header.size, end: bytes.count) {
            case .frame(let next) where next.isDependent:
                hasDependents = true
                header.size += next.size
            case .needsMore: return isClosed || !hasDependents
            case .none: return isClosed || !hasDependents || offset + header.size < bytes.count
            case .frame: return true
            }
        }
        return true
    }

    private mutating func take(
        _ header: AudioFrameHeader, at offset: Int, of bytes: [UInt8], isDoubted: Bool, counts: inout DemuxCounts
    ) {
        isInStep = true
        let payload = offset + header.headerSize..<offset + header.size
        configure(header, bytes[payload])
        if let configuration, !header.isUnusable {
            frames.append(Frame(configuration: configuration, pts: clock.now, isDamaged: isDoubted, payload: payload))
        } else {
            counts.undecodable += 1
        }
        clock.advance(header.format.samplesPerFrame, at: header.format.sampleRate)
    }

    private mutating func configure(_ header: AudioFrameHeader, _ payload: ArraySlice<UInt8>) {
        guard header.format != format else { return }
        format = header.format
        configuration = header.format.configuration()
    }

    private mutating func give(_ bytes: [UInt8]) -> [AudioPacket] {
        defer {
            frames.removeAll(keepingCapacity: true)
            stretch = 0
        }
        return frames.map { frame in
            AudioPacket(
                pid: pid, configuration: frame.configuration, pts: frame.pts, isDamaged: frame.isDamaged,
                payload: bytes[frame.payload])
        }
    }
}
