/** The other half of the package, `segue/api`: what services keep for a user, over HTTP. */
export { Api, type ApiUrls } from "./api.js";
export { ArtistClient, type ArtistFeed, type ArtistNews } from "./artists.js";
export { PlaylistClient, type PlaylistContents, type PlaylistSummary } from "./playlists.js";
export { SettingsClient, type EventExplanation, type MadeWebhook, type NotificationPreferences, type PushDevice, type SentCopy, type WebhookEndpoint, type WebhookTrial } from "./preferences.js";
export {
  Social,
  type FollowedUser,
  type LinkedBook,
  type Listeners,
  type PlaylistState,
  type PrivacyState,
  type PrivateDevice,
  type Viewing,
} from "./social.js";
