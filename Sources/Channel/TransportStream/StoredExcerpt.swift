import Demux
import Media
import Mux

/// Samples of a published segment as a file of fragmented MP4 with its init section, which `StoredMedia` reads.
struct StoredExcerpt {
    private let initialization: [UInt8]
    private let media: StoredMedia
    private let tracks: [MovieTrack]
    private let fragments: [TrackFragment]

    /// - Parameters: the bytes of the segment's init section and of its file.
    init(initialization: [UInt8], segment: [UInt8]) throws(MediaError) {
        self.initialization = initialization
        media = try StoredMedia(initialization: initialization, segment: segment)
        tracks = try MovieTrack.tracks(of: initialization)
        fragments = try MovieFragment.fragments(of: segment).flatMap(\.tracks)
    }

    /// The last random access point of the video; nil if there is none.
    func still() -> [UInt8]? {
        guard let track = track("vide"), let index = track.samples.lastIndex(where: \.isRandomAccessPoint) else {
            return nil
        }
        return file(video: track.excerpt(from: index, count: 1), audio: nil)
    }

    /// The end of the audio from which the next segment continues it; nil if there is no audio.
    func leadIn() -> [UInt8]? {
        guard let track = track("soun"), let audio = media.audio else { return nil }
        let start = AudioBridge.leadInStart(of: audio)
        return file(video: nil, audio: track.excerpt(from: start, count: track.samples.count - start))
    }

    private func file(video: MuxTrack?, audio: MuxTrack?) -> [UInt8] {
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: video, audio: audio, startsSegment: false)
        return initialization + fragment.header + fragment.payloads.joined()
    }

    /// All samples of a track. Its fragments follow one another.
    private func track(_ handler: BoxType) -> Track? {
        guard let track = tracks.first(where: { $0.handler == handler }) else { return nil }
        let fragments = fragments.filter { $0.trackID == track.trackID }
        let samples = fragments.flatMap(\.samples)
        guard let first = fragments.first, !samples.isEmpty else { return nil }
        return Track(trackID: track.trackID, decodeTime: first.decodeTime ?? 0, samples: samples)
    }

    private struct Track {
        let trackID: UInt32
        let decodeTime: UInt64
        let samples: [TrackFragment.Sample]

        func excerpt(from start: Int, count: Int) -> MuxTrack {
            let skipped = samples[..<start].reduce(0) { $0 + UInt64($1.duration) }
            return MuxTrack(
                trackID: trackID, decodeTime: decodeTime + skipped,
                samples: samples[start..<start + count].map { sample in
                    MuxSample(
                        duration: sample.duration, compositionOffset: sample.compositionOffset,
                        randomAccess: sample.isSync
                            ? .instantaneousRefresh : sample.isRandomAccessPoint ? .recoveryPoint : nil,
                        payload: sample.payload)
                })
        }
    }
}
