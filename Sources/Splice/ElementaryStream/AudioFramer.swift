/// From the byte stream of one PID to its audio frames and their times.
struct AudioFramer: Sendable {
    private struct Frame {
        let configuration: AudioConfiguration
        var pts: Ticks?
        let samples: Int
        let isDamaged: Bool
        /// In the buffer's bytes; of LOAS in `unpacked`.
        let payload: Range<Int>
    }

    private let pid: UInt16
    private let framing: AudioFraming
    private var search: AudioFrameSearch
    private var clock = AudioSampleClock()
    private var configurations = AudioConfigurations()
    private var mux = AudioMuxReader()
    private var frames: [Frame] = []
    /// Frames from this one on follow each other without a loss.
    private var stretch = 0
    private var unpacked: [UInt8] = []

    init(pid: UInt16, framing: AudioFraming) {
        self.pid = pid
        self.framing = framing
        search = AudioFrameSearch(framing: framing)
    }

    /// Takes every whole frame out of `buffer` and leaves the beginning of the next there.
    /// - Parameter isClosed: nothing will ever continue it.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, isClosed: Bool, counts: inout DemuxCounts
    ) -> [AudioPacket] {
        var times = PacketTimes()
        var offset = 0
        scan: while offset < buffer.bytes.count {
            if framing.isOneFramePerPacket, let start = buffer.packetStart(after: offset) {
                offset = start
                continue
            }
            let fault = times.passFaults(upTo: offset, in: buffer)
            let wasInStep = search.isInStep
            switch search.step(buffer.bytes, at: offset, fault: fault, isClosed: isClosed) {
            case .take(let header, let isDoubted):
                if let pts = times.take(at: offset, in: buffer) { setClock(pts) }
                take(header, at: offset, of: buffer.bytes, isDoubted: isDoubted, counts: &counts)
                offset += header.size
            case .search(let next):
                if wasInStep { counts.undecodable += 1 }
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
        return give(buffer.detachFirst(offset, keepsTimes: times.isUntaken(at: offset, in: buffer)))
    }

    private mutating func setClock(_ pts: Ticks) {
        if clock.now == nil { countBack(from: pts) }
        clock.set(pts)
    }

    /// After a loss the next time given says when the frames since then were due.
    private mutating func countBack(from pts: Ticks) {
        var samples: Int64 = 0
        for index in frames.indices[stretch...].reversed() {
            let configuration = frames[index].configuration
            samples += Int64(frames[index].samples)
            frames[index].pts = (pts - AudioSampleClock.ticks(samples, at: Int64(configuration.sampleRate))).wire
        }
    }

    private mutating func take(
        _ header: AudioFrameHeader, at offset: Int, of bytes: [UInt8], isDoubted: Bool, counts: inout DemuxCounts
    ) {
        let payload = offset + header.headerSize..<offset + header.size - header.trailerSize
        if framing == .loas { return unpack(bytes[payload], isDoubted: isDoubted, counts: &counts) }
        guard header.use != .otherProgram else { return }
        if header.use == .packet, let configuration = configurations.configuration(of: header, bytes[payload]) {
            frames.append(
                Frame(
                    configuration: configuration, pts: clock.now, samples: header.duration, isDamaged: isDoubted,
                    payload: payload))
        } else {
            counts.undecodable += 1
        }
        clock.advance(header.duration, at: header.format.sampleRate)
    }

    private mutating func unpack(_ element: ArraySlice<UInt8>, isDoubted: Bool, counts: inout DemuxCounts) {
        guard let contained = try? mux.frames(element), let configuration = mux.configuration else {
            counts.undecodable += 1
            clock.set(nil)
            stretch = frames.count
            return
        }
        for frame in contained {
            let payload = unpacked.count..<unpacked.count + frame.count
            unpacked += frame
            frames.append(
                Frame(
                    configuration: configuration, pts: clock.now, samples: configuration.samplesPerFrame,
                    isDamaged: isDoubted, payload: payload))
            clock.advance(configuration.samplesPerFrame, at: configuration.sampleRate)
        }
    }

    private mutating func give(_ bytes: [UInt8]) -> [AudioPacket] {
        let source = framing == .loas ? unpacked : bytes
        defer {
            frames.removeAll(keepingCapacity: true)
            stretch = 0
            unpacked = []
        }
        return frames.map { frame in
            AudioPacket(
                pid: pid, configuration: frame.configuration, pts: frame.pts, isDamaged: frame.isDamaged,
                payload: source[frame.payload])
        }
    }
}

/// The configuration of each frame, built once as long as the headers agree.
private struct AudioConfigurations: Sendable {
    private var format: AudioFrameHeader.Format?
    private var current: AudioConfiguration?
    private var element: ProgramConfigElement?

    /// Nil for AAC whose channels a program_config_element says, before the first of them.
    mutating func configuration(of header: AudioFrameHeader, _ payload: ArraySlice<UInt8>) -> AudioConfiguration? {
        let isNew = header.format != format
        if isNew {
            format = header.format
            element = nil
            current = header.format.configuration
        }
        guard header.format.codec == .aac, header.format.channelCount == 0 else { return current }
        if let found = ProgramConfigElement(rawDataBlock: payload), found != element {
            element = found
            current = AudioConfiguration(
                codec: .aac, sampleRate: header.format.sampleRate, channelCount: found.channelCount,
                samplesPerFrame: header.format.samplesPerFrame,
                decoderSpecificInfo: header.format.specificBytes + found.bytes)
        }
        return element == nil ? nil : current
    }
}
