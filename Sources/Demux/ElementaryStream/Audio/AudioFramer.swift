import Media
import Support

/// Frames the audio byte stream of one PID and assigns timestamps.
struct AudioFramer: Sendable {
    private let pid: UInt16
    private let framing: AudioFraming
    private var sync: AudioFrameSync
    private var timestamps = AudioTimestampInterpolator()
    private var configurations = AudioConfigurationCache()
    private var latm = LATMReader()

    init(pid: UInt16, framing: AudioFraming) {
        self.pid = pid
        self.framing = framing
        sync = AudioFrameSync(framing: framing)
    }

    /// Removes every complete frame from `buffer` and leaves the beginning of the next there.
    mutating func frame(
        _ buffer: inout ElementaryBuffer, isClosed: Bool, counts: inout Counts<DemuxCount>
    ) throws(MediaError) -> [AudioPacket] {
        var packetTimestamps = PESTimestamps()
        var framed = FramedAudio()
        var (offset, steps) = (0, 0)
        while offset < buffer.bytes.count {
            if steps & 0xFFF == 0 { try MediaError.checkCancellation() }
            steps += 1
            let next = advance(
                from: offset, in: buffer, &packetTimestamps, isClosed: isClosed, into: &framed, counts: &counts)
            guard let next else { break }
            offset = next
        }
        if isClosed, offset < buffer.bytes.count {
            counts[.abandonedUnits] += 1
            offset = buffer.bytes.count
        }
        let bytes = buffer.detachFirst(offset, keepsTimes: packetTimestamps.isUnused(at: offset, in: buffer))
        return framed.packets(from: framing == .loas ? framed.unpacked : bytes)
    }

    /// - Returns: The offset of the next step; nil if more bytes are needed.
    private mutating func advance(
        from offset: Int, in buffer: borrowing ElementaryBuffer, _ packetTimestamps: inout PESTimestamps,
        isClosed: Bool, into framed: inout FramedAudio, counts: inout Counts<DemuxCount>
    ) -> Int? {
        let loss = packetTimestamps.skipLosses(upTo: offset, in: buffer)
        let wasSynced = sync.isSynced
        switch sync.nextStep(buffer.bytes, at: offset, loss: loss, isClosed: isClosed) {
        case .frame(let header, let isSuspect):
            if let pts = packetTimestamps.consumeTimestamp(at: offset, in: buffer) { setClock(pts, &framed) }
            append(header, at: offset, of: buffer.bytes, isSuspect: isSuspect, into: &framed, counts: &counts)
            return offset + header.size
        case .resync(let next):
            if wasSynced { counts[.undecodableUnits] += 1 }
            timestamps.set(nil)
            framed.beginAfterLoss()
            return next
        case .needsMore: return nil
        }
    }

    private mutating func setClock(_ pts: Ticks, _ framed: inout FramedAudio) {
        if timestamps.now == nil { framed.backfillTimestamps(from: pts) }
        timestamps.set(pts)
    }

    private mutating func append(
        _ header: AudioFrameHeader, at offset: Int, of bytes: [UInt8], isSuspect: Bool,
        into framed: inout FramedAudio, counts: inout Counts<DemuxCount>
    ) {
        let payload = offset + header.headerSize..<offset + header.size
        if framing == .loas { return unpack(bytes[payload], isSuspect: isSuspect, into: &framed, counts: &counts) }
        guard header.use != .otherProgram else { return }
        if header.use == .packet, framed.hasRoom,
            let configuration = configurations.configuration(of: header, bytes[payload])
        {
            framed.append(packet(configuration, isSuspect: isSuspect), payload)
        } else {
            counts[.undecodableUnits] += 1
        }
        timestamps.advance(header.format.samplesPerFrame, at: header.format.sampleRate)
    }

    private mutating func unpack(
        _ element: ArraySlice<UInt8>, isSuspect: Bool, into framed: inout FramedAudio,
        counts: inout Counts<DemuxCount>
    ) {
        guard let unpackedFrames = try? latm.frames(element), let configuration = latm.configuration else {
            counts[.undecodableUnits] += 1
            timestamps.set(nil)
            framed.beginAfterLoss()
            return
        }
        for frame in unpackedFrames {
            guard framed.hasRoom else {
                counts[.undecodableUnits] += 1
                continue
            }
            framed.append(packet(configuration, isSuspect: isSuspect), unpacked: frame)
            timestamps.advance(configuration.samplesPerFrame, at: configuration.sampleRate)
        }
    }

    private func packet(_ configuration: AudioConfiguration, isSuspect: Bool) -> AudioPacket {
        AudioPacket(pid: pid, configuration: configuration, pts: timestamps.now, isDamaged: isSuspect, payload: [])
    }
}

/// The frames of one segment's bytes.
private struct FramedAudio {
    /// The packets without their payloads, whose ranges are in the bytes of the stream; for LOAS, in `unpacked`.
    private var frames: [(packet: AudioPacket, payload: Range<Int>)] = []
    private var firstSinceLoss = 0
    private(set) var unpacked: [UInt8] = []

    var hasRoom: Bool { frames.count < DemuxLimits.audioFrames }

    mutating func append(_ packet: AudioPacket, _ payload: Range<Int>) { frames.append((packet, payload)) }

    mutating func append(_ packet: AudioPacket, unpacked frame: [UInt8]) {
        frames.append((packet, unpacked.count..<unpacked.count + frame.count))
        unpacked += frame
    }

    mutating func beginAfterLoss() { firstSinceLoss = frames.count }

    /// Computes the timestamps of the frames since the last loss from the next known timestamp.
    mutating func backfillTimestamps(from pts: Ticks) {
        var samples: Int64 = 0
        for index in frames.indices[firstSinceLoss...].reversed() {
            let configuration = frames[index].packet.configuration
            samples += Int64(configuration.samplesPerFrame)
            frames[index].packet.pts = (pts - Ticks(samples: samples, sampleRate: configuration.sampleRate)).wire
        }
    }

    /// - Parameter bytes: the bytes that the ranges are in.
    consuming func packets(from bytes: [UInt8]) -> [AudioPacket] {
        frames.map { frame in
            var packet = frame.packet
            packet.payload = bytes[frame.payload]
            return packet
        }
    }
}

/// The configuration of the frames, built once as long as the headers agree.
private struct AudioConfigurationCache: Sendable {
    private var format: AudioFrameHeader.Format?
    private var current: AudioConfiguration?
    private var element: ProgramConfigElement?

    /// Returns the configuration of a frame; nil for AAC whose channels a program_config_element defines, before the
    /// first one.
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

/// Assigns the timestamp of a PES packet to the first frame that begins in it (ISO/IEC 13818-1 §2.4.3.7). Offsets
/// ascend from call to call.
private struct PESTimestamps: Sendable {
    private var lastUsed: Int?
    private var nextLoss = 0

    /// Marks packets with losses up to `offset` as used: the first frame of such a packet is unknown.
    /// - Returns: The offset of the next loss after `offset`.
    mutating func skipLosses(upTo offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while nextLoss < buffer.losses.count, buffer.losses[nextLoss].offset <= offset {
            let loss = buffer.losses[nextLoss].offset
            if let damaged = buffer.packetIndex(before: loss) {
                lastUsed = max(damaged, lastUsed ?? damaged)
            }
            nextLoss += 1
        }
        return nextLoss < buffer.losses.count ? buffer.losses[nextLoss].offset : nil
    }

    /// Returns the timestamp of a frame that begins at `offset`; nil if another frame used it, or if there is none.
    mutating func consumeTimestamp(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Ticks? {
        guard let packet = buffer.packetIndex(at: offset), packet != lastUsed else { return nil }
        lastUsed = packet
        return buffer.starts[packet].pts
    }

    /// Whether a frame that begins at `offset` would be the first of its packet.
    func isUnused(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Bool {
        buffer.packetIndex(at: offset) != lastUsed
    }
}

/// Interpolates the timestamps of frames without one by counting samples, without accumulating rounding errors.
struct AudioTimestampInterpolator: Equatable, Sendable {
    private var anchor: Ticks?
    private var samples: Int64 = 0
    private var sampleRate: SampleRate = 48_000

    /// The current time to the nearest tick, 0 ..< 2³³; nil before the first timestamp, and from a loss to the next
    /// timestamp.
    var now: Ticks? {
        anchor.map { ($0 + Ticks(samples: samples, sampleRate: sampleRate)).wire }
    }

    mutating func set(_ pts: Ticks?) {
        anchor = pts
        samples = 0
    }

    mutating func advance(_ count: Int, at rate: SampleRate) {
        if rate != sampleRate {
            set(now)
            sampleRate = rate
        }
        samples += Int64(count)
    }
}
