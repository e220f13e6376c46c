/**
 * Makes this checkout the release of a version: `npm run release -- 1.1.0`. The version goes into the packages, the lock file and the
 * manifests of Kubernetes; CHANGELOG's unreleased section gets its heading; test/e2e/last-release.txt names the commit of the release
 * before, if there is one. Images of others are named by their digests, or the release is refused. It commits nothing: what it wrote is
 * committed as `Release 1.1.0`, the message by which the next one finds it.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import semver from 'semver'
import { sentenceOf } from './failure.ts'

const packages = ['.', 'core', ...globSync('core/packages/*')]
const unreleased = /^## .*\bunreleased$/im
/** The images of others that the packaging names, and the digest behind a name. */
const image = /\bdocker\.io\/[\w./:-]+(?<digest>@sha256:[0-9a-f]{64}\b)?/g
/** What whoever makes a release does about it. */
const howToPin = '"docker buildx imagetools inspect <image>" tells the digest; behind the tag it is @sha256:… in scripts/packaging.'

try {
  release(process.argv.slice(2))
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}

function release ([version = '', ...others]: string[]): void {
  const { version: before } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  if (others.length > 0 || semver.valid(version) !== version) throw new Error('Expected one version: npm run release -- 1.2.3')
  if (!semver.gt(version, before)) throw new Error(`This is ${before}; the version of a release is newer.`)
  const changes = readFileSync('CHANGELOG.md', 'utf8')
  if (!unreleased.test(changes)) throw new Error('CHANGELOG.md has no section "## Unreleased": what does the release change?')
  const unpinned = new Set(
    globSync('scripts/packaging/{Containerfile,*.yaml}').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(image)].flatMap(({ groups, 0: name }) => groups?.['digest'] === undefined ? [name] : [])
    )
  )
  if (unpinned.size > 0) throw new Error(`${[...unpinned].join(', ')}: what stands behind a tag changes. ${howToPin}`)

  for (const folder of packages) edit(`${folder}/package.json`, (manifest) => raise(manifest, version))
  edit('package-lock.json', (lock) => {
    lock.version = version
    for (const [path, manifest] of Object.entries(lock.packages ?? {})) {
      if (packages.includes(path === '' ? '.' : path)) raise(manifest, version)
    }
  })
  for (const file of globSync('scripts/packaging/kubernetes/*.yaml')) {
    // A job cannot be changed: each release has one of its own name.
    const [was, is] = [before, version].map((one) => `dispatch-migrate-${one.replaceAll('.', '-')}`)
    const text = readFileSync(file, 'utf8').replaceAll(`document-dispatch:${before}`, `document-dispatch:${version}`)
    writeFileSync(file, text.replaceAll(String(was), String(is)))
  }
  writeFileSync('CHANGELOG.md', changes.replace(unreleased, `## ${version}, ${new Date().toISOString().slice(0, 10)}`))
  const commit = git('log', '-1', '--format=%H', '--fixed-strings', `--grep=Release ${before}`)
  if (commit !== '') writeFileSync('test/e2e/last-release.txt', `${commit}\n`)
  console.log(`This is ${version} now. Run the tests, and commit it as "Release ${version}".`)
}

/** A package.json, or a lock file with those of all packages by their folders. */
type Manifest = {
  version?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  packages?: Record<string, Manifest>
}

/** The packages of this repository have one version, and ask for each other in it. */
function raise (manifest: Manifest, version: string): void {
  manifest.version = version
  for (const dependencies of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(dependencies ?? {})) {
      if (dependencies !== undefined && name.startsWith('@dispatch/')) dependencies[name] = version
    }
  }
}

function edit (file: string, change: (content: Manifest) => void): void {
  const content = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  change(content)
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`)
}

function git (...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}
