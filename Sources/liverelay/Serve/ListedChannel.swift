struct ListedHeader: Hashable, Sendable {
    let name: String
    let value: String
}

struct ListedSource: Hashable, Sendable {
    var url: String
    var headers: [ListedHeader] = []
    var proxy: String?
}

struct ListedChannel: Hashable, Sendable {
    var slug: String
    var name: String
    var sources: [ListedSource]
}
