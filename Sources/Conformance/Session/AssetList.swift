import Support

/// The JSON document of X-ASSET-LIST (draft-pantos-hls-rfc8216bis appendix D.2).
enum AssetList {
    /// The fault of the document; nil if it can be read.
    static func problem(in bytes: [UInt8]) -> String? {
        guard let document = LooseJSON(bytes) else { return "the list of X-ASSET-LIST is no JSON document" }
        guard case .list(let assets) = document["ASSETS"] else { return "the list of X-ASSET-LIST has no array ASSETS" }
        for asset in assets {
            guard let uri = asset["URI"].text else { return "an asset of X-ASSET-LIST has no URI" }
            if URIReference.scheme(of: uri) == nil { return "the URI of an asset is not absolute" }
            guard let duration = asset["DURATION"].text, DecimalSeconds.duration(duration) != nil else {
                return "an asset of X-ASSET-LIST has no DURATION"
            }
        }
        return nil
    }
}
