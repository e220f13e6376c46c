// Must run on any Node from 18 on, so that a wrong one gets a sentence instead of a syntax error.
import { readFileSync } from 'node:fs'

/**
 * Ends the process with one sentence when a Node is older than `engines.node` of package.json.
 * @param {string} [version] such as `v26.10.0`; this process's own by default
 */
export function assertNode (version = process.version) {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const needed = Number(engines.node.replace('>=', ''))
  if (Number.parseInt(version.slice(1), 10) >= needed) return
  console.error(`Document Dispatch needs Node ${needed} or later and this is ${version}: "npm start" and "npm test" bring their own ` +
    `on Linux and macOS (x64, arm64); elsewhere (${process.platform}-${process.arch}) install Node ${needed}.`)
  process.exit(1)
}
