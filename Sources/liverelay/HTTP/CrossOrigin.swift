/// What a page of another origin may do here: read everything, which is what a media origin is for (Fetch §3.2).
enum CrossOrigin {
    static let allowedMethods = "GET, HEAD, OPTIONS"

    /// A player reads its clock offset from Date and Age and sizes from the other two.
    static let exposedFields = "Age, Content-Length, Content-Range, Date"

    /// The answer to OPTIONS, whether a browser's preflight or not. A browser may keep it for a day.
    static let preflight = Response(
        status: .noContent, cacheControl: .maxAge(seconds: 86_400), body: .empty,
        extraHeaders: [
            HeaderField(name: "Allow", value: allowedMethods),
            HeaderField(name: "Access-Control-Allow-Methods", value: allowedMethods),
            HeaderField(name: "Access-Control-Allow-Headers", value: "Range, If-None-Match, If-Range, Cache-Control"),
            HeaderField(name: "Access-Control-Max-Age", value: "86400"),
        ])

    static let methodNotAllowed: Response = {
        var response = Response.text(.methodNotAllowed, "Only GET, HEAD and OPTIONS are answered here.")
        response.extraHeaders = [HeaderField(name: "Allow", value: allowedMethods)]
        return response
    }()
}
