package import Media

/// One track of a published segment, as a file of its own. It is made on request, because players that choose among
/// audio renditions need video without audio.
package enum TrackExtract {
    /// A track that can be extracted.
    package enum Track: String, CaseIterable, Sendable {
        case video, audio

        fileprivate var id: UInt32 { self == .video ? TrackID.video : TrackID.audio }
    }

    /// A segment with one track: bytes made in memory, followed by bytes of the stored segment's file.
    package struct Segment: Equatable, Sendable {
        package let header: [UInt8]
        package let payload: Range<Int>

        package var byteCount: Int { header.count + payload.count }
    }

    /// Returns the init section of one track; nil if `section` does not contain the track.
    package static func initSection(of track: Track, in section: [UInt8]) throws(MediaError) -> [UInt8]? {
        var writer = BoxWriter(capacity: section.count)
        var hasTrack = false
        for box in try BoxReader.boxes(in: section[...]) {
            guard box.type == "moov" else {
                writer.append(section[box.start..<box.body.endIndex])
                continue
            }
            try writer.box("moov") { (moov: inout BoxWriter) throws(MediaError) in
                for child in try box.children() {
                    if child.type == "trak" {
                        guard try child.isTrack(track.id) else { continue }
                        hasTrack = true
                    }
                    guard child.type == "mvex" else {
                        moov.append(section[child.start..<child.body.endIndex])
                        continue
                    }
                    let extends = try child.children().filter { BoxFields.number(in: $0.body, at: 4) == track.id }
                    moov.box("mvex") { mvex in
                        for trex in extends { mvex.append(section[trex.start..<trex.body.endIndex]) }
                    }
                }
            }
        }
        return hasTrack ? writer.bytes : nil
    }

    /// Returns one track of a segment that `FragmentWriter` wrote; nil if the segment does not contain the track.
    /// - Parameters:
    ///   - head: the bytes of the file up to the end of `moof` at least.
    ///   - byteCount: size of the file, in bytes.
    package static func segment(
        of track: Track, inFileThatBegins head: [UInt8], byteCount: Int
    ) throws(MediaError) -> Segment? {
        let boxes = try BoxReader.wholeBoxes(in: head[...]).boxes
        let moof = try boxes.require("moof")
        var runs: [(traf: Box, id: UInt32, start: Int)] = []
        for traf in try moof.children() where traf.type == "traf" {
            let children = try traf.children()
            guard let id = BoxFields.number(in: try children.require("tfhd").body, at: 4),
                let offset = BoxFields.number(in: try children.require("trun").body, at: 8)
            else { throw MediaError(.badParameterSet(field: "trun"), section: "ISO/IEC 14496-12 §8.8.8") }
            runs.append((traf, id, moof.start + Int(offset)))
        }
        guard let index = runs.firstIndex(where: { $0.id == track.id }) else { return nil }
        let end = index + 1 < runs.count ? runs[index + 1].start : byteCount
        guard runs[index].start >= moof.body.endIndex, runs[index].start <= end, end <= byteCount else {
            throw MediaError(.badParameterSet(field: "data_offset"), section: "ISO/IEC 14496-12 §8.8.8")
        }
        let payload = runs[index].start..<end
        var writer = BoxWriter(capacity: moof.body.endIndex)
        // Event messages stay with the video.
        for box in boxes.prefix(while: { $0.type != "moof" }) where box.type != "emsg" || index == 0 {
            writer.append(head[box.start..<box.body.endIndex])
        }
        try write(runs[index].traf, of: moof, in: head, payloadSize: payload.count, to: &writer)
        return Segment(header: writer.bytes, payload: payload)
    }

    /// Returns the first video sample of a segment as a fragment of its own; nil if decoding cannot begin with it.
    /// - Parameters: as for `segment`.
    package static func firstFrame(
        inFileThatBegins head: [UInt8], byteCount: Int
    ) throws(MediaError) -> Segment? {
        let moof = try BoxReader.wholeBoxes(in: head[...]).boxes.require("moof")
        guard let track = try FragmentTrack.tracks(of: moof)[TrackID.video], let frame = track.samples.first,
            frame.isRandomAccessPoint
        else { return nil }
        guard frame.bytes.lowerBound >= moof.body.endIndex, frame.bytes.upperBound <= byteCount,
            let time = UInt64(exactly: track.decodeTime)
        else { throw FragmentTrack.fault("sample_size") }
        // Only the size of the payload is written.
        let payload = [UInt8](repeating: 0, count: frame.bytes.count)
        let sample = MuxSample(
            duration: frame.duration, compositionOffset: frame.compositionOffset, isSync: true, payload: payload[...])
        let fragment = FragmentWriter.write(
            sequenceNumber: 1, video: MuxTrack(trackID: track.id, decodeTime: time, samples: [sample]), audio: nil)
        return Segment(header: fragment.header, payload: frame.bytes)
    }

    private static func write(
        _ traf: Box, of moof: Box, in head: [UInt8], payloadSize: Int, to writer: inout BoxWriter
    ) throws(MediaError) {
        let start = writer.position
        let header = try moof.children().require("mfhd")
        // version and flags, and sample_count precede data_offset.
        let offset = try traf.children().require("trun").body.startIndex + 8 - traf.start
        var dataOffset = 0
        writer.box("moof") { box in
            box.append(head[header.start..<header.body.endIndex])
            dataOffset = box.position + offset
            box.append(head[traf.start..<traf.body.endIndex])
        }
        let size = payloadSize + 8
        writer.patch(UInt32(clamping: writer.position - start + 8), at: dataOffset)
        guard let size = UInt32(exactly: size) else {
            throw MediaError(.badParameterSet(field: "mdat"), section: BoxReader.section)
        }
        writer.u32(size)
        writer.type("mdat")
    }
}

extension Box {
    fileprivate func isTrack(_ id: UInt32) throws(MediaError) -> Bool {
        let header = try descendant("tkhd").body
        return BoxFields.number(in: header, at: header.first == 1 ? 20 : 12) == id
    }
}

extension BoxFields {
    /// The 32-bit number at `offset` of a box's body; nil if the body is shorter.
    fileprivate static func number(in body: ArraySlice<UInt8>, at offset: Int) -> UInt32? {
        guard body.count >= offset + 4 else { return nil }
        return body.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
