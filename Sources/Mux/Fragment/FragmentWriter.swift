package import Media
import Support

/// One sample of a fragment.
package struct MuxSample: Equatable, Sendable {
    /// Duration in the track's timescale.
    package var duration: UInt32
    /// Presentation time − decode time, in the track's timescale.
    package var compositionOffset: Int32
    /// How decoding may begin with the sample; nil if it cannot. An audio sample is a sync sample.
    package var randomAccess: RandomAccessPoint?
    /// Video: NAL units, each prefixed with its length in four bytes. Audio: one encoded frame.
    package var payload: ArraySlice<UInt8>

    package init(
        duration: UInt32, compositionOffset: Int32, randomAccess: RandomAccessPoint?, payload: ArraySlice<UInt8>
    ) {
        self.duration = duration
        self.compositionOffset = compositionOffset
        self.randomAccess = randomAccess
        self.payload = payload
    }

    package init(duration: UInt32, compositionOffset: Int32, isSync: Bool, payload: ArraySlice<UInt8>) {
        self.init(
            duration: duration, compositionOffset: compositionOffset,
            randomAccess: isSync ? .instantaneousRefresh : nil, payload: payload)
    }

    /// Whether every later sample can be decoded without an earlier one.
    package var isSync: Bool { randomAccess == .instantaneousRefresh }
}

/// The samples of one track in a fragment.
package struct MuxTrack: Equatable, Sendable {
    package let trackID: UInt32
    /// Decode time of the first sample, in the track's timescale (`tfdt`).
    package let decodeTime: UInt64
    /// Samples in decoding order.
    package let samples: [MuxSample]

    package init(trackID: UInt32, decodeTime: UInt64, samples: [MuxSample]) {
        self.trackID = trackID
        self.decodeTime = decodeTime
        self.samples = samples
    }
}

/// One written movie fragment: the header, followed by the payloads.
package struct Fragment: Equatable, Sendable {
    /// styp, moof and the header of mdat.
    package let header: [UInt8]
    /// Sample bytes, not copied, by track and in decoding order.
    package let payloads: [ArraySlice<UInt8>]

    /// Size of header and payloads, bytes.
    package var byteCount: Int { payloads.reduce(header.count) { $0 + $1.count } }
}

/// Writes movie fragments (ISO/IEC 14496-12 §8.8): one moof for the samples of all tracks, one mdat.
package enum FragmentWriter {
    /// Flags of an I picture and of every audio frame: sample_depends_on 2, sample_is_non_sync_sample 0.
    static let syncFlags: UInt32 = 0x0200_0000
    /// Flags of an I picture with leading pictures: sample_depends_on 2, sample_is_non_sync_sample 1.
    static let openSyncFlags: UInt32 = 0x0201_0000
    /// Flags of other samples: sample_depends_on 1, sample_is_non_sync_sample 1.
    static let nonSyncFlags: UInt32 = 0x0101_0000

    /// Whether decoding may begin with a sample of these flags: sample_depends_on is 2.
    static func isRandomAccessPoint(_ flags: UInt32) -> Bool { flags >> 24 & 3 == 2 }

    /// Writes one fragment.
    /// - Parameters:
    ///   - sequenceNumber: value of `mfhd`; increases over the life of a channel.
    ///   - video: written first. Its payload must be below 2 GiB, because the data offset of audio has 31 bits.
    ///   - audio: every track of the current init section must be present: players stall forever on a missing traf.
    ///   - messages: event messages of the fragment's time range, written before moof (ISO/IEC 23009-1 §5.10.3.3).
    ///   - startsSegment: whether to write `styp`. Only the first chunk of a segment has one.
    package static func write(
        sequenceNumber: UInt32, video: MuxTrack?, audio: MuxTrack?, messages: [PlacedMessage] = [],
        startsSegment: Bool = true
    ) -> Fragment {
        let tracks = [video, audio].compactMap(\.self)
        let payloads = tracks.flatMap { $0.samples.map(\.payload) }
        let payloadSize = payloads.reduce(0) { $0 + $1.count }
        var writer = BoxWriter(capacity: 256 + payloads.count * 16)
        if startsSegment { writeSegmentType(&writer) }
        for message in messages { message.write(to: &writer) }
        let moof = writer.position
        let offsets = writeMovieFragment(tracks, sequenceNumber: sequenceNumber, &writer)
        let moofSize = writer.position - moof
        let dataHeaderSize = writeMediaDataHeader(payloadSize: payloadSize, &writer)
        var dataOffset = moofSize + dataHeaderSize
        for (track, position) in zip(tracks, offsets) {
            writer.patch(UInt32(dataOffset), at: position)
            dataOffset += track.samples.reduce(0) { $0 + $1.payload.count }
        }
        StepCounter.add(writer.position)
        return Fragment(header: writer.bytes, payloads: payloads)
    }

    private static func writeSegmentType(_ writer: inout BoxWriter) {
        writer.box("styp") { box in
            box.type("iso6")
            box.u32(0)
            box.type("iso6")
            box.type("msdh")
        }
    }

    /// Writes moof.
    /// - Returns: the position of each track's data offset, to be patched when the size of moof is known.
    private static func writeMovieFragment(
        _ tracks: [MuxTrack], sequenceNumber: UInt32, _ writer: inout BoxWriter
    ) -> [Int] {
        var offsets: [Int] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.u32(sequenceNumber) }
            for track in tracks { offsets.append(TrackFragmentWriter(track).write(to: &moof)) }
        }
        return offsets
    }

    /// Writes the header of mdat.
    /// - Returns: the header size: 16 bytes if the payload needs a 64-bit size (§4.2), else 8.
    private static func writeMediaDataHeader(payloadSize: Int, _ writer: inout BoxWriter) -> Int {
        let start = writer.position
        if let size = UInt32(exactly: payloadSize + 8) {
            writer.u32(size)
            writer.type("mdat")
        } else {
            writer.u32(1)
            writer.type("mdat")
            writer.u64(UInt64(payloadSize + 16))
        }
        return writer.position - start
    }
}

extension PlacedMessage {
    /// Writes `emsg` version 1, whose time is absolute instead of relative to its segment.
    func write(to writer: inout BoxWriter) {
        writer.fullBox("emsg", version: 1) { box in
            box.u32(UInt32(TrackTimescale.video))
            box.u64(UInt64(max(0, time.count)))
            box.u32(message.duration.flatMap { UInt32(exactly: $0.count) } ?? .max)
            box.u32(message.number ?? derivedNumber)
            for text in [message.scheme, message.value] {
                box.append(text.utf8.filter { $0 != 0 })
                box.u8(0)
            }
            box.append(message.data)
        }
    }

    /// Message number for a message without one. Duplicates get the same number, also after a restart.
    private var derivedNumber: UInt32 {
        var key = BoxWriter()
        key.u64(UInt64(bitPattern: time.count))
        key.append(message.data)
        return UInt32(truncatingIfNeeded: ContentHash.digest(of: key.bytes[...]))
    }
}
