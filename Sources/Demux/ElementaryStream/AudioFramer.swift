import Media

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
    private var sync: AudioFrameSync
    private var timestamps = AudioTimestampInterpolator()
    private var configurations = AudioConfigurationCache()
    private var latm = LATMReader()
    private var frames: [Frame] = []
    /// Frames from this one on follow each other without a loss.
    private var firstSinceLoss = 0
    private var unpacked: [UInt8] = []

    init(pid: UInt16, framing: AudioFraming) {
        self.pid = pid
        self.framing = framing
        sync = AudioFrameSync(framing: framing)
    }

    /// Takes every whole frame out of `buffer` and leaves the beginning of the next there.
    /// - Parameter isClosed: nothing will ever continue it.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, isClosed: Bool, counts: inout DemuxCounts
    ) -> [AudioPacket] {
        var times = PESTimestamps()
        var offset = 0
        scan: while offset < buffer.bytes.count {
            if framing.isOneFramePerPacket, let start = buffer.packetStart(after: offset) {
                offset = start
                continue
            }
            let fault = times.skipLosses(upTo: offset, in: buffer)
            let wasInStep = sync.isSynced
            switch sync.nextStep(buffer.bytes, at: offset, loss: fault, isClosed: isClosed) {
            case .frame(let header, let isDoubted):
                if let pts = times.consumeTimestamp(at: offset, in: buffer) { setClock(pts) }
                append(header, at: offset, of: buffer.bytes, isSuspect: isDoubted, counts: &counts)
                offset += header.size
            case .resync(let next):
                if wasInStep { counts.undecodable += 1 }
                timestamps.set(nil)
                firstSinceLoss = frames.count
                offset = next
            case .needsMore: break scan
            }
        }
        if isClosed, offset < buffer.bytes.count {
            counts.abandoned += 1
            offset = buffer.bytes.count
        }
        return makePackets(buffer.detachFirst(offset, keepsTimes: times.isUnused(at: offset, in: buffer)))
    }

    private mutating func setClock(_ pts: Ticks) {
        if timestamps.now == nil { backfillTimestamps(from: pts) }
        timestamps.set(pts)
    }

    /// After a loss the next time given says when the frames since then were due.
    private mutating func backfillTimestamps(from pts: Ticks) {
        var samples: Int64 = 0
        for index in frames.indices[firstSinceLoss...].reversed() {
            let configuration = frames[index].configuration
            samples += Int64(frames[index].samples)
            frames[index].pts =
                (pts - Ticks(samples: samples, sampleRate: Int64(configuration.sampleRate))).wire
        }
    }

    private mutating func append(
        _ header: AudioFrameHeader, at offset: Int, of bytes: [UInt8], isSuspect: Bool, counts: inout DemuxCounts
    ) {
        let payload = offset + header.headerSize..<offset + header.size - header.trailerSize
        if framing == .loas { return unpack(bytes[payload], isDoubted: isSuspect, counts: &counts) }
        guard header.use != .otherProgram else { return }
        if header.use == .packet, let configuration = configurations.configuration(of: header, bytes[payload]) {
            frames.append(
                Frame(
                    configuration: configuration, pts: timestamps.now, samples: header.duration, isDamaged: isSuspect,
                    payload: payload))
        } else {
            counts.undecodable += 1
        }
        timestamps.advance(header.duration, at: header.format.sampleRate)
    }

    private mutating func unpack(_ element: ArraySlice<UInt8>, isDoubted: Bool, counts: inout DemuxCounts) {
        guard let contained = try? latm.frames(element), let configuration = latm.configuration else {
            counts.undecodable += 1
            timestamps.set(nil)
            firstSinceLoss = frames.count
            return
        }
        for frame in contained {
            let payload = unpacked.count..<unpacked.count + frame.count
            unpacked += frame
            frames.append(
                Frame(
                    configuration: configuration, pts: timestamps.now, samples: configuration.samplesPerFrame,
                    isDamaged: isDoubted, payload: payload))
            timestamps.advance(configuration.samplesPerFrame, at: configuration.sampleRate)
        }
    }

    private mutating func makePackets(_ bytes: [UInt8]) -> [AudioPacket] {
        let source = framing == .loas ? unpacked : bytes
        defer {
            frames.removeAll(keepingCapacity: true)
            firstSinceLoss = 0
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
private struct AudioConfigurationCache: Sendable {
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
