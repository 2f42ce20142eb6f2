/** Makes dist/: `node build.mjs` the package and the scripts of examples/radio, `node build.mjs --tests` the tests and the conformance driver. */
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, format: "esm", target: "es2022", logLevel: "warning" };
const all = (folder) => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`) : []);

if (process.argv.includes("--tests")) {
  await build({ ...shared, entryPoints: all("test"), outdir: "dist/test", platform: "node", packages: "external" });
  await build({ ...shared, entryPoints: all("conformance"), outdir: "dist/conformance", platform: "node", packages: "external" });
} else {
  rmSync("dist", { recursive: true, force: true }); // names of shared parts change with what is in them
  const elements = Object.fromEntries(["bell", "feed", "preferences"].map((name) => [name, `src/elements/${name}.ts`]));
  const entryPoints = { segue: "src/index.ts", api: "src/http.ts", inbox: "src/inbox.ts", replica: "src/replica.ts", ...elements };
  await build({ ...shared, entryPoints, outdir: "dist", splitting: true, chunkNames: "shared-[hash]", minify: true, platform: "browser" });
  // The example application bundles the package, as applications do that have a bundler of their own.
  const radio = "../../examples/radio";
  const { compilerOptions } = JSON.parse(readFileSync(`${radio}/tsconfig.json`, "utf8"));
  const alias = Object.fromEntries(Object.entries(compilerOptions.paths).map(([name, [path]]) => [name, `./${path.replace("../../clients/js/", "")}`]));
  rmSync(`${radio}/dist`, { recursive: true, force: true });
  const scripts = { radio: `${radio}/src/app.ts`, worker: `${radio}/src/worker.ts` };
  await build({ ...shared, entryPoints: scripts, outdir: `${radio}/dist`, alias, minify: true, platform: "browser" });
}
