/** The service worker: it shows pushes while no page is open. */
import type { Push } from "./station.js";

/** What a service worker has and a page does not, as far as it is used here. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { matchAll(): Promise<readonly { focus(): Promise<unknown> }[]>; openWindow(url: string): Promise<unknown>; claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: string, listener: (event: WorkerEvent) => void): void;
}

interface WorkerEvent {
  /** Of a push, or of a message of a page. */
  readonly data: Push & { json?(): Push };
  readonly notification: Notification;
  waitUntil(done: Promise<unknown>): void;
}

const worker = self as unknown as WorkerScope;

function show({ title, body, id }: Push): Promise<void> {
  return worker.registration.showNotification(title, { body, tag: id, icon: "icon.svg" }); // one that comes twice is shown once
}

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("push", (event) => event.waitUntil(show(event.data.json!())));
worker.addEventListener("message", (event) => event.waitUntil(show(event.data)));
worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const opened = worker.clients.matchAll().then(([page]) => page?.focus() ?? worker.clients.openWindow("./#inbox"));
  event.waitUntil(opened);
});
