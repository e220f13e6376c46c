/**
 * Installs the packages of the lockfile that node_modules lacks, then checks the version of the Node for the scripts. It runs before `npm
 * start` and, with `--dev` (with test tools), before `npm test`, on any Node from 18 on, without dependencies.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assertNode } from './node-version.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules/.bin')
const dev = process.argv.includes('--dev')

if (!isInstalled()) install()
assertNode(scriptsNode())
if (dev && !isTapBuilt()) buildTap()

/** As its last step, npm records what it has installed in node_modules/.package-lock.json. */
function isInstalled () {
  const record = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(record)) return false
  const installed = packagesOf(record)
  return Object.entries(packagesOf(join(root, 'package-lock.json')))
    .every(([path, entry]) => !isNeeded(path, entry) || isSame(entry, installed[path]))
}

function isSame (entry, installed) {
  return installed !== undefined && installed.version === entry.version
}

function packagesOf (path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}

/**
 * A package for another platform is not required. npm decides about a package for another C library, and about an optional one that names
 * no platform, because the package that needs it may be for another platform.
 */
function isNeeded (path, { dev: forTests, devOptional, optional, os, cpu, libc }) {
  if (path === '' || (!dev && (forTests || devOptional))) return false
  if (!optional) return true
  return !libc && (os ?? cpu) !== undefined && allows(os, process.platform) && allows(cpu, process.arch)
}

function allows (names, name) {
  return names === undefined || [names].flat().includes(name)
}

function install () {
  console.log('Installing the dependencies, this may take a minute …')
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', ...(dev ? ['--include=dev'] : [])], pathWithoutModules(),
    output =>
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(output)
        ? 'The dependencies could not be installed, because the package registry cannot be reached: connect this machine and try again.'
        : 'The dependencies could not be installed: npm says why above.')
}

/** npm replaces node_modules, so it must not run on the Node inside it. */
function pathWithoutModules () {
  return pathEntries().filter(entry => !entry.includes('node_modules')).join(delimiter)
}

/** tap is published with its own TypeScript compiler, which .taprc leaves out. tap would rebuild itself too late for its first run. */
function isTapBuilt () {
  return !readFileSync(join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js'), 'utf8').includes('@tapjs/typescript')
}

function buildTap () {
  run('tap', ['build'], [bin, ...pathEntries()].join(delimiter), () => 'tap could not be built: it says why above.')
}

function pathEntries () {
  return (process.env.PATH ?? '').split(delimiter)
}

/** Quiet unless it fails. Then it shows npm's output without npm's remarks about an older Node, and one sentence. */
function run (command, args, PATH, sentence) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, PATH },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe']
  })
  if (status === 0) return
  if (error) fail(`${command} could not be run (${error.code}): it belongs to Node and must be on the PATH.`)
  const output = `${stdout}${stderr}`.split('\n').filter(line => !line.includes('EBADENGINE')).join('\n').trim()
  console.error(output)
  fail(sentence(output))
}

function fail (sentence) {
  console.error(sentence)
  process.exit(1)
}

/** The version of the Node that package scripts run on: the installed one, else the one on the PATH. */
function scriptsNode () {
  const node = join(bin, 'node')
  if (!existsSync(node) || realpathSync(node) === realpathSync(process.execPath)) return process.version
  const { stdout, status } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : process.version
}
