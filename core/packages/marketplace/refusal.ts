/** The reasons for which something is refused. The page of this package has the same table. */
export const refusalCodes = {
  package_too_large: 'The package, one of its files, their number or what it unpacks to is beyond the limits.',
  package_damaged: 'It is no tarball compressed with gzip, or it is cut off.',
  integrity_mismatch: 'Its SHA-512 or its size is not the one that was announced.',
  path_unsafe: 'A path is absolute, leaves the folder `package/`, or has characters that systems read differently.',
  path_collision: 'Two paths are one on a system that ignores case or the form of Unicode, or a file is a folder as well.',
  link: 'An entry is a link.',
  not_a_file: 'An entry is a folder, a device or a FIFO.',
  nested_archive: 'A file is an archive.',
  native_code: 'A file is compiled for one system.',
  install_scripts: 'Its installation would run commands.',
  dependencies: 'It needs other packages, or brings them.',
  entry_missing: 'There is no `index.js`.',
  manifest_missing: 'There is no `manifest.json` or no `package.json`.',
  manifest_invalid: 'A manifest does not have the right form.',
  manifest_mismatch: 'The manifests of the package, or the catalog, contradict each other.',
  sdk_not_met: 'It is made for another version of `@dispatch/core`.',
  key_invalid: 'A key is no Ed25519 key in the form of a JSON Web Key, or its `kid` is not its thumbprint.',
  key_unknown: 'The catalog is signed with a key that is not trusted.',
  signature_invalid: 'A signature is not one by the key that it names, or no signature at all.',
  catalog_too_large: 'The catalog is beyond its limit.',
  catalog_invalid: 'The content of a catalog does not have the right form.',
  catalog_rolled_back: 'The catalog is older than the one that was read before.',
  serial_reused: 'The catalog has the serial of the one that was read before, and other content.',
  catalog_expired: 'The catalog has expired: nothing new is installed from it.',
  adapter_unknown: 'The catalog does not list the adapter.',
  version_unknown: 'The catalog does not list the version.',
  version_yanked: 'The publisher has withdrawn the version: it is not installed anew.',
  version_changed: 'A version that was listed before has other bytes now.',
  version_revoked: 'The version was revoked: it is not installed, and does not go on running.',
  code_taken: 'Two publishers have a package for one code.',
  not_conformant: 'It has not passed the conformance kit where the catalog was built.',
  source_invalid: 'A source of catalogs is neither a directory nor an https:// address, or a place in it leads elsewhere.',
  source_unavailable: 'The source could not be read, or answered with an error.',
  source_timeout: 'The source did not answer in full within the time limit.',
  source_redirects: 'The source answers with another address.',
  source_length: 'The source sends more than is permitted, or another length than it announces.'
} as const

/** The word for a reason. */
export type RefusalCode = keyof typeof refusalCodes

/** A package, a catalog, a key or a source is refused. The message is a sentence that says what would be right. */
export class MarketplaceRefusal extends Error {
  override name = 'MarketplaceRefusal'
  readonly code: RefusalCode

  constructor (code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
