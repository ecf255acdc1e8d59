extension SlateMovie.AudioTrackUse {
    package var message: String {
        switch self {
        case .copied: "it is copied"
        case .absent: "it has none"
        case .unusable(let entries): "\(entries.joined(separator: ", ")) is not copied; AAC is"
        }
    }
}
