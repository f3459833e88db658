"""The door of GammonX' clients: Microsoft's SignalR joined to the backgammon family.

`terms` are the numbers and names of that protocol, `board` turns boards so that everybody plays white,
`payloads` makes what clients are shown, `news` says which events a step is to them, `hub` is one connection,
and `joining` what they ask over HTTP.
"""
