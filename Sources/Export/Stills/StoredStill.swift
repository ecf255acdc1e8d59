package import LiveRing
package import Media
import Mux
package import Support
package import Transcode

/// A still of the ring: a random access point, which is decoded when somebody asks for it.
package struct StoredStill: Sendable {
    /// Why there is no still.
    package enum Refusal: Error, Equatable, Sendable {
        /// The ring has no media at that time, or none that decoding may begin with.
        case noMedia
        case noVideo
        /// The files cannot be read.
        case spool(RingError)
        /// The samples cannot be decoded.
        case undecodable(MediaError)
    }

    /// Dates have whole milliseconds.
    private static let tolerance = Ticks.milliseconds(1)

    /// Names the sample among those of all rings.
    package let name: String
    private let entry: RingEntry
    private let bytes: Range<Int>
    private let snapshot: RingSnapshot

    /// Finds the nearest random access point at or before a date. Reads the index of a segment, or of a few.
    ///
    /// Where media is missing, it is the last one before.
    package init(at date: ProgramDateTime, in snapshot: RingSnapshot) throws(Refusal) {
        let listed = snapshot.index.listed
        guard let first = listed.first, date >= first.programDateTime else { throw .noMedia }
        let end = snapshot.index.firstIndex(at: date) ?? listed.endIndex
        // Entries that begin later are no answer, and gaps have no samples.
        var index = min(end, listed.endIndex - 1)
        while listed[index].isGap || listed[index].programDateTime > date {
            guard index > listed.startIndex else { throw .noMedia }
            index -= 1
        }
        try self.init(at: date, in: index, of: snapshot)
    }

    private init(at date: ProgramDateTime, in index: Int, of snapshot: RingSnapshot) throws(Refusal) {
        let entry = snapshot.index.listed[index]
        guard entry.format.videoCodec != nil else { throw .noVideo }
        let fragment: StoredFragment
        do throws(TransportStreamError) { fragment = try StoredFragment(entry, in: snapshot) } catch {
            throw Refusal(error)
        }
        let presented = entry.presented
        let offset = Ticks.milliseconds(date.milliseconds(since: entry.programDateTime))
        let time = min(presented.lowerBound + offset, presented.upperBound) + Self.tolerance
        guard let point = snapshot.randomAccessPoint(before: time, in: fragment, at: index),
            let sample = point.fragment.video?.samples[point.sample]
        else { throw .noMedia }
        (self.entry, self.snapshot, bytes) = (point.fragment.entry, snapshot, sample.bytes)
        name = "\(snapshot.path(of: point.fragment.entry.segment)) \(point.sample)"
    }

    /// Reads the sample and decodes it to a still that fits into `box`.
    package func decoded(in box: StillImage.Size) throws(Refusal) -> StillImage { try loaded().decoded(in: box) }

    /// Reads what is decoded: the sample, and the init section that describes it.
    package func loaded() throws(Refusal) -> LoadedStill {
        // What is remote of both is found out at once.
        let sample = Result { () throws(RingError) in try snapshot.bytes(of: entry.segment, in: bytes) }
        let header = Result { () throws(RingError) in try snapshot.bytes(of: entry.initialization) }
        do throws(RingError) { return LoadedStill(sample: try sample.get(), header: try header.get()) } catch {
            throw .spool(error)
        }
    }
}

/// The bytes of a still that is not decoded yet.
package struct LoadedStill: Sendable {
    fileprivate let sample: [UInt8]
    fileprivate let header: [UInt8]

    package func decoded(in box: StillImage.Size) throws(StoredStill.Refusal) -> StillImage {
        do throws(MediaError) {
            guard let video = try TrackDescriptions(header).video() else { throw MediaError.noVideoEntry }
            return try StillDecoder.image(of: sample, video.codec, record: video.record, in: box)
        } catch { throw .undecodable(error) }
    }
}

extension StoredStill.Refusal {
    fileprivate init(_ error: TransportStreamError) {
        switch error {
        case .spool(let error): self = .spool(error)
        case .unreadable(let error): self = .undecodable(error)
        case .noMedia, .busy: self = .noMedia
        }
    }
}

extension MediaError {
    fileprivate static let noVideoEntry = MediaError(
        .badParameterSet(field: "stsd"), section: "ISO/IEC 14496-12 §8.5.2")
}
