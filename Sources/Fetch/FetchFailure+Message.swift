import Support

extension FetchFailure {
    package var message: String {
        switch self {
        case .refused(let status): "HTTP \(status)"
        case .unreachable(let reason, let address): reason.message + (address.map { " (\($0))" } ?? "")
        case .notMedia: "a page or a message, no media"
        case .truncated: "it ends in the middle"
        case .tooShort: "it ends long before its EXTINF"
        case .empty: "nothing in it"
        case .shortRange: "fewer bytes than the range"
        case .wrongRange: "other bytes than the range"
        }
    }
}
