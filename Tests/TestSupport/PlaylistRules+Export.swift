// `PlaylistRules` has the files of this folder that need nothing of a module that is compiled for testing.
@_exported public import PlaylistRules
