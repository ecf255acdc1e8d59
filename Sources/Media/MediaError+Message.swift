import Support

extension MediaError {
    package var message: String {
        switch reason {
        case .unknownContainer(let bytes):
            "unknown container (it begins with \(bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: " ")))"
        case .sampleEncryption(let type): "stream type 0x\(String(type, radix: 16)) is sample encryption"
        case .noSupportedStream(let types, let names):
            "no H.264, HEVC or audio in it that can be republished (\(Self.describe(types, names)))"
        case .protectedTrack(let scheme): "its samples are encrypted (\(scheme))"
        case .noUsableVideo(let streams):
            "no H.264, HEVC or MPEG-2 video in it" + (streams.isEmpty ? "" : " (\(streams.joined(separator: ", ")))")
        case .scrambled: "it is scrambled (conditional access)"
        case .unfragmentedMovie: "it is an MP4 file without fragments (only fragmented MP4 can be a segment)"
        case .missingInitialization: "it is fragmented MP4 without an EXT-X-MAP"
        case .noSupportedTrack(let entries):
            "no H.264, HEVC or audio in it that can be republished (sample entries \(entries.joined(separator: " ")))"
        case .noVideo: "its tables announce video, but it has none"
        case .missingTimestamp: "packed audio without its ID3 timestamp"
        case .badParameterSet(let field): "a parameter set with a bad \(field)"
        case .badSection: "a section that contradicts itself"
        case .truncated: "it ends too early"
        case .tooLarge(let bytes): "\(bytes) bytes are too many"
        case .unusableMovie(let fault): fault.message
        case .missingLibrary(let name, let detail):
            "\(name) cannot be loaded (\(detail)); install \(Self.package(of: name)) and start again"
        case .library(let code, let call): "\(call) failed (\(code))"
        case .canceled: "nobody waits for it any more"
        }
    }

    /// Debian's name of the package with a library: libavcodec59 for libavcodec.so.59.
    private static func package(of library: String) -> String {
        library.replacing(".so.", with: "")
    }

    /// "MPEG-2 video 0x2, SCTE-35 0x86".
    private static func describe(_ streamTypes: [UInt8], _ names: [String]) -> String {
        if streamTypes.isEmpty { return "nothing is listed" }
        let names = names.map { "\($0) " } + repeatElement("", count: max(0, streamTypes.count - names.count))
        return zip(names, streamTypes).map { "\($0)0x\(String($1, radix: 16))" }.joined(separator: ", ")
    }
}

extension MediaError {
    /// The way to publish a media file with this fault.
    package var fileAdvice: String {
        let command = { (flags: String) in "ffmpeg -i … -c copy -movflags \(flags) file.mp4" }
        let fragmented = command("+frag_keyframe+empty_moov")
        return switch reason {
        case .unusableMovie(.movieTooLarge): "Raise --memory-limit, or make a fragmented one with: \(fragmented)"
        case .unusableMovie(.tooManySamples): "Make a fragmented one with: \(fragmented)"
        default: "Make another one with: \(command("+faststart"))"
        }
    }
}

extension MovieFault {
    fileprivate var message: String {
        switch self {
        case .notMP4: "it is no MP4 file"
        case .noMovie: "it ends before its moov box does"
        case .movieAfterMedia: "its moov box comes after its media, and its origin sends no byte ranges"
        case .fragmented: "it is fragmented MP4, but a slate needs the sample tables of a plain MP4 file"
        case .movieTooLarge(let bytes): "its moov box has \(bytes) bytes"
        case .badTable(let box): "its \(box) box is missing, cut short, or does not fit the others"
        case .tooManySamples(let count): "a track has \(count) samples, which is too many"
        case .severalSampleEntries: "its samples have several formats"
        case .samplesPastEnd: "it is shorter than its tables announce"
        case .samplesOutOfOrder: "its samples are not in decoding order"
        case .notInterleaved: "its audio is far from its video; 'ffmpeg -i FILE -c copy OUT.mp4' interleaves them"
        case .noSyncSample: "it has no sync sample"
        case .frameRateTooLow(let longest): "it presents one frame for \(longest.duration.secondsText)"
        case .tooShort(let length): "it lasts only \(length.duration.secondsText)"
        case .tooLong: "it lasts longer than a day"
        case .segmentTooLarge(let bytes): "\(bytes) bytes are between two of its key frames"
        }
    }
}
