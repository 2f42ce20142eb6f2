/** `segue/replica`: playlists that are kept on this device. */
export { PlaylistReplica, type ReplicaEvents, type ReplicaOptions } from "./playlist_replica.js";
export type { RefusedEdit } from "./replica_core.js";
