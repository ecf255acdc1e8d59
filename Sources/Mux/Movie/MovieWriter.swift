package import Media

/// The head of an MP4 file whose samples are parts of stored fragments: `ftyp`, `moov`, and the header of `mdat`
/// (ISO/IEC 14496-12 §8.2 to §8.8).
///
/// Fragments are appended in order, from their indexes alone. The media data of the file is then the bytes of the appended
/// samples, track by track within each fragment. Periods with other parameters become further sample entries of the
/// same track, so that one file spans all splices. Where media is missing, the following media is moved to an earlier
/// time.
package struct MovieWriter: Equatable, Sendable {
    /// A named point of the movie.
    package struct Chapter: Equatable, Sendable {
        /// Time since the first frame.
        package let start: Ticks
        package let title: String

        package init(start: Ticks, title: String) { (self.start, self.title) = (start, title) }
    }

    /// A text about the whole movie.
    package struct Tag: Equatable, Sendable {
        package enum Kind: Sendable { case title, date, network }

        let kind: Kind
        let text: String

        package init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }
    }

    /// Multiples of this number of ticks are whole numbers of units in both tracks' timescales.
    private static let shiftUnit: Int64 = 5

    private var tracks = [SampleTableWriter(id: TrackID.video), SampleTableWriter(id: TrackID.audio)]
    private var shift: Int64 = 0
    /// The total size of all appended samples.
    package private(set) var mediaByteCount: UInt64 = 0

    package init() {}

    /// By how much the times of media appended from now on are earlier than on the channel's timeline.
    package var earlier: Ticks { Ticks(shift) }

    /// Moves all media appended from now on to an earlier time, by at most `duration`.
    package mutating func skip(_ duration: Ticks) {
        shift += duration.count - duration.count % Self.shiftUnit
    }

    /// Appends samples of one track, which begin at `samples.first`.
    /// - Parameters:
    ///   - decodeTime: decode time of the first sample, on the channel's timeline.
    ///   - descriptions: the sample entries of the period. Nothing is appended to a track without an entry.
    /// - Returns: the bytes in the fragment's file that come next in the media data; nil if nothing was appended.
    package mutating func append(
        _ samples: ArraySlice<FragmentTrack.Sample>, of track: UInt32, at decodeTime: Int64,
        as descriptions: TrackDescriptions
    ) -> Range<Int>? {
        let start = mediaByteCount
        append(Array(samples), of: track, at: decodeTime, as: descriptions)
        guard mediaByteCount > start, let first = samples.first, let last = samples.last else { return nil }
        return first.bytes.lowerBound..<last.bytes.upperBound
    }

    /// Appends samples that are in no fragment, like the function above.
    package mutating func append(
        _ samples: [FragmentTrack.Sample], of track: UInt32, at decodeTime: Int64, as descriptions: TrackDescriptions
    ) {
        let kind = track == TrackID.video ? track : TrackID.audio
        guard let description = descriptions.tracks[kind] else { return }
        let index = index(of: track)
        let shift = shift / Self.shiftUnit * (tracks[index].timescale * Self.shiftUnit / Ticks.perSecond)
        tracks[index].append(samples, at: decodeTime - shift, offset: mediaByteCount, as: description)
        mediaByteCount += samples.reduce(0) { $0 + UInt64($1.bytes.count) }
    }

    package mutating func setLanguage(_ language: LanguageTag, of track: UInt32) {
        tracks[index(of: track)].language = language
    }

    private mutating func index(of track: UInt32) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == track }) { return index }
        tracks.append(SampleTableWriter(id: track))
        return tracks.count - 1
    }

    /// Returns the bytes before the media data.
    /// - Parameters:
    ///   - presented: the parts of the timeline that are presented one after the other, in times of the file's first
    ///     period. Media before, between and after them is only decoded.
    ///   - chapters: in order.
    package func head(presenting presented: [Range<Ticks>], chapters: [Chapter] = [], tags: [Tag] = []) -> [UInt8] {
        let (type, tracks) = (Self.fileType, tracks.filter { !$0.sizes.isEmpty })
        let tables = tracks.reduce(0) { $0 + $1.byteCount }
        let isLarge = UInt64(tables) + mediaByteCount + 1 << 20 > UInt64(UInt32.max)
        let text = MovieText(tags: tags, chapters: chapters)
        var movie = BoxWriter(capacity: tables + 4096)
        var dataStart: UInt64 = 0
        // Offsets have a fixed size, so the second pass writes the right offsets at the same size.
        for _ in 0..<2 {
            movie = BoxWriter(capacity: tables + 4096)
            movie.box("moov") { moov in
                writeHeader(&moov, lasting: presented)
                for track in tracks {
                    track.write(
                        to: &moov, presenting: presented, dataStart: dataStart, isLarge: isLarge,
                        isAlternative: track.isAudio && tracks.count > 2)
                }
                text.write(to: &moov)
            }
            dataStart = UInt64(type.count + movie.position + (isLarge ? 16 : 8))
        }
        var data = BoxWriter()
        data.u32(isLarge ? 1 : UInt32(mediaByteCount + 8))
        data.type("mdat")
        if isLarge { data.u64(mediaByteCount + 16) }
        return type + movie.bytes + data.bytes
    }

    private static var fileType: [UInt8] {
        var writer = BoxWriter()
        writer.box("ftyp") { box in
            box.type("isom")
            box.u32(0x200)
            for brand in ["isom", "iso2", "mp41"] as [BoxType] { box.type(brand) }
        }
        return writer.bytes
    }

    private func writeHeader(_ moov: inout BoxWriter, lasting presented: [Range<Ticks>]) {
        moov.fullBox("mvhd", version: 1) { mvhd in
            mvhd.zeros(16)
            mvhd.u32(UInt32(Ticks.perSecond))
            mvhd.u64(UInt64(presented.reduce(0) { $0 + $1.upperBound.count - $1.lowerBound.count }))
            mvhd.playbackFields(nextTrack: max(TrackID.audio, tracks.map(\.id).max() ?? 0) + 1)
        }
    }
}

extension SampleTableWriter {
    /// An entry of an edit list (§8.6.6).
    private struct Edit {
        /// In ticks of the movie.
        let duration: Int64
        /// In the track's timescale; −1 before the track begins.
        let mediaTime: Int64
    }

    private func edits(presenting presented: [Range<Ticks>]) -> [Edit] {
        presented.flatMap { part in
            let begin = part.lowerBound.count.rescaled(timescale, over: Ticks.perSecond) - start
            let length = part.upperBound.count - part.lowerBound.count
            let delay = max(0, -begin).rescaled(Ticks.perSecond, over: timescale)
            let edit = Edit(duration: max(0, length - delay), mediaTime: max(0, begin))
            return delay > 0 ? [Edit(duration: delay, mediaTime: -1), edit] : [edit]
        }
    }

    fileprivate func write(
        to moov: inout BoxWriter, presenting presented: [Range<Ticks>], dataStart: UInt64, isLarge: Bool,
        isAlternative: Bool
    ) {
        let edits = edits(presenting: presented)
        moov.box("trak") { trak in
            writeHeader(&trak, lasting: edits.reduce(0) { $0 + $1.duration }, isAlternative: isAlternative)
            trak.box("edts") { edts in
                edts.fullBox("elst", version: 1) { elst in
                    elst.u32(UInt32(edits.count))
                    for edit in edits {
                        elst.u64(UInt64(edit.duration))
                        elst.u64(UInt64(bitPattern: edit.mediaTime))
                        elst.u32(0x0001_0000)  // media_rate 1.0
                    }
                }
            }
            trak.box("mdia") { mdia in
                writeMediaHeader(&mdia)
                mdia.handler(isAudio ? "soun" : "vide")
                mdia.box("minf") { minf in
                    minf.mediaInformation(isAudio: isAudio)
                    writeSampleTable(to: &minf, dataStart: dataStart, isLarge: isLarge)
                }
            }
        }
    }

    private func writeHeader(_ trak: inout BoxWriter, lasting duration: Int64, isAlternative: Bool) {
        // Of several audio tracks, only the leading one is enabled.
        let flags: UInt32 = id > TrackID.audio ? 0x2 : 0x3  // track_enabled, track_in_movie
        trak.fullBox("tkhd", version: 1, flags: flags) { tkhd in
            tkhd.zeros(16)
            tkhd.u32(id)
            tkhd.zeros(4)
            tkhd.u64(UInt64(duration))
            tkhd.zeros(8 + 2)
            tkhd.u16(isAlternative ? 1 : 0)  // alternate_group
            tkhd.u16(isAudio ? 0x0100 : 0)  // volume
            tkhd.zeros(2)
            tkhd.identityMatrix()
            tkhd.u32(orderedDescriptions.first?.width ?? 0)
            tkhd.u32(orderedDescriptions.first?.height ?? 0)
        }
    }

    private func writeMediaHeader(_ mdia: inout BoxWriter) {
        mdia.fullBox("mdhd", version: 1) { mdhd in
            mdhd.zeros(16)
            mdhd.u32(UInt32(timescale))
            mdhd.u64(UInt64(duration))
            // Three letters of five bits.
            mdhd.u16(language.iso639.utf8.reduce(0) { $0 << 5 | UInt16($1 & 0x1F) })
            mdhd.u16(0)
        }
    }
}
