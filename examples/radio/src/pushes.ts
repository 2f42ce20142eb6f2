/** Web pushes of this browser: by the push service of its vendor, or where that cannot be reached by the radio's own. */
import type { SettingsClient } from "segue/api";
import { station, type Push, type SubscriptionJson } from "./station.js";

const WAIT_MS = 8_000;

/** How pushes come: by the browser's own push service, or by that of the radio, which hands them to the page. */
export interface PushSetup {
  readonly way: "vendor" | "radio";
  /** Why it is not the browser's own push service. */
  readonly reason: string;
}

/** Has pushes sent to this browser; returns which way they come. Raises what the service raises. */
export async function enablePushes(user: string, settings: SettingsClient): Promise<PushSetup> {
  const worker = await navigator.serviceWorker.register("worker.js");
  let subscription: SubscriptionJson;
  let setup: PushSetup = { way: "vendor", reason: "" };
  try {
    subscription = await ofVendor(worker, await settings.pushKey());
  } catch (error) {
    subscription = await station.subscription(user);
    setup = { way: "radio", reason: error instanceof Error ? error.message : String(error) };
  }
  await settings.addDevice(subscription.endpoint, subscription.keys);
  return setup;
}

/** Hands a push that the radio took to the service worker, as the browser does with one of its own; returns whether it is shown there. */
export async function showPush(push: Push): Promise<boolean> {
  if (!("Notification" in globalThis) || Notification.permission !== "granted") return false;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage(push);
  return active !== null;
}

async function ofVendor(worker: ServiceWorkerRegistration, applicationServerKey: string): Promise<SubscriptionJson> {
  if ((await Notification.requestPermission()) !== "granted") throw new Error("this browser does not let the page show notifications");
  const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error("the push service of this browser does not answer")), WAIT_MS));
  const subscription = await Promise.race([worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }), late]);
  return subscription.toJSON() as SubscriptionJson;
}
