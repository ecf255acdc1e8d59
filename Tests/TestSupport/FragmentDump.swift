@testable import Demux
@testable import Media

/// A segment in words: what golden files and `inspect` show.
package enum FragmentDump {
    /// A line for each track of the init section, each event message, each fragment, each track in it and each sample.
    /// Times are in the track's timescale, those of messages in 90 kHz; a hash is 64-bit FNV-1a of the payload.
    ///
    ///     track 1 vide avc1 timescale=90000 1280x720 avcC=cbf29ce484222325
    ///     message 5 time=36000 duration=none urn:a "v" size=3 cbf29ce484222325
    ///     fragment 7: styp emsg moof mdat
    ///       track 1 tfdt=18000 samples=1
    ///         dts=18000 duration=3600 offset=+18000 sync size=1200 cbf29ce484222325
    ///
    /// What is malformed ends the text with a line that says where.
    package static func text(initSection: [UInt8], segment: [UInt8]) -> String {
        var lines: [String] = []
        do throws(MediaError) {
            lines += try MovieTrack.tracks(of: initSection).map(line)
            let boxes = try BoxReader.boxes(in: segment[...])
            for box in boxes where box.type == "emsg" { lines.append(line(try EventMessageBox(box))) }
            let order = boxes.map { "\($0.type)" }.joined(separator: " ")
            for fragment in try MovieFragment.fragments(of: segment) {
                lines.append("fragment \(fragment.sequenceNumber): \(order)")
                lines += fragment.tracks.flatMap(self.lines)
            }
            for box in boxes where box.type == "moof" { lines += try groupLines(box) }
        } catch {
            lines.append("malformed: \(error.reason) at byte \(error.offset) (\(error.section))")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func line(_ track: MovieTrack) -> String {
        // Our own init sections have one entry a track.
        let entry = track.sampleEntries[0]
        let format =
            switch entry.format {
            case .video(let width, let height): "\(width)x\(height)"
            case .audio(let channels, let sampleRate): "channels=\(channels) rate=\(sampleRate)"
            case .other: "-"
            }
        let records = entry.configuration.map { " \($0.type)=\(ContentHash.hexDigest(of: $0.body))" }.joined()
        let kind = "\(track.handler) \(entry.type) timescale=\(track.timescale)"
        return "track \(track.trackID) \(kind) \(format)\(records)"
    }

    private static func line(_ box: EventMessageBox) -> String {
        let message = box.message
        let number = message.number.map(String.init) ?? "none"
        let time = box.time(from: .zero).map { "\($0.count)" } ?? "none"
        let duration = message.duration.map { "\($0.count)" } ?? "none"
        return "message \(number) time=\(time) duration=\(duration) \(message.scheme) \"\(message.value)\" "
            + "size=\(message.data.count) \(ContentHash.hexDigest(of: message.data[...]))"
    }

    /// The sample groups of a fragment, as they are written.
    private static func groupLines(_ moof: Box) throws(MediaError) -> [String] {
        var lines: [String] = []
        for traf in try moof.children() where traf.type == "traf" {
            for box in try traf.children() where ["sgpd", "sbgp"].contains(box.type) {
                lines.append(
                    "  \(box.type) \(box.body.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())"
                )
            }
        }
        return lines
    }

    private static func lines(_ track: TrackFragment) -> [String] {
        let start = track.decodeTime.map(String.init) ?? "none"
        var time = track.decodeTime ?? 0
        var lines = ["  track \(track.trackID) tfdt=\(start) samples=\(track.samples.count)"]
        for sample in track.samples {
            lines.append("    dts=\(time) \(line(sample))")
            time &+= UInt64(sample.duration)
        }
        return lines
    }

    private static func line(_ sample: TrackFragment.Sample) -> String {
        let offset = sample.compositionOffset
        let sign = offset < 0 ? "" : "+"
        let kind = sample.isSync ? "sync" : sample.flags == 0x0201_0000 ? "open" : "delta"
        let hash = ContentHash.hexDigest(of: sample.payload)
        return "duration=\(sample.duration) offset=\(sign)\(offset) \(kind) size=\(sample.payload.count) \(hash)"
    }
}

extension ContentHash {
    /// Returns 16 lower-case hexadecimal digits.
    fileprivate static func hexDigest(of bytes: ArraySlice<UInt8>) -> String {
        let digits = String(digest(of: bytes), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
