/// Which tracks of a transport stream are wanted: a rendition with a companion for its audio gives only video.
package enum TrackSelection: Hashable, Sendable { case video, audio, both }

/// The elementary streams a demuxer follows, and the programme they belong to.
package struct ProgramSelection: Hashable, Sendable {
    package struct Stream: Hashable, Sendable {
        package let pid: UInt16
        package let kind: ElementaryStreamKind
    }

    /// program_number; 0 when the streams were guessed from their bytes.
    package let programNumber: UInt16
    /// The first in the PMT that can be carried; stayed with while it is listed.
    package let video: Stream?
    package let audio: Stream?
    /// Listed in the PMT and not followed: further languages, subtitles, metadata.
    package let unfollowed: [UInt16]

    package var streams: [Stream] { [video, audio].compactMap(\.self) }

    init(programNumber: UInt16, video: Stream?, audio: Stream?, unfollowed: [UInt16] = []) {
        self.programNumber = programNumber
        self.video = video
        self.audio = audio
        self.unfollowed = unfollowed
    }

    /// - Parameter previous: its streams are kept while `map` lists them.
    init(_ map: ProgramMap, tracks: TrackSelection, after previous: ProgramSelection?) {
        let listed = map.entries.compactMap { entry in entry.kind.map { Stream(pid: entry.pid, kind: $0) } }
        func choose(_ isVideo: Bool, keeping kept: Stream?) -> Stream? {
            let candidates = listed.filter { $0.kind.isVideo == isVideo }
            return candidates.first { $0 == kept } ?? candidates.first
        }
        let video = tracks == .audio ? nil : choose(true, keeping: previous?.video)
        let audio = tracks == .video ? nil : choose(false, keeping: previous?.audio)
        let followed = [video?.pid, audio?.pid]
        self.init(
            programNumber: map.programNumber, video: video, audio: audio,
            unfollowed: map.entries.map(\.pid).filter { !followed.contains($0) })
    }
}

/// A selection and the packet from which it holds.
struct SelectionChange: Equatable, Sendable {
    /// Offset of the packet in the segment.
    let offset: Int
    let selection: ProgramSelection
}
