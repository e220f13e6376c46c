export const words = {
  deletions: 'Deleted companies',
  deletionsIntro: 'Companies that were deleted for good, with the digest of the receipt; the receipt itself is in the API.',
  deletionsNone: 'No company was deleted.',
  deletionNew: 'Delete a company',
  deletionCompany: 'Number of the company',
  deletionName: 'Its name',
  deletionNameHelp: 'As it is, so that no other company is meant.',
  deletionAsk: 'Delete {name} for good?',
  deletionWhat: 'Its data key goes first, so that its sealed documents are read by nobody any more, also in backups. Then go its files, ' +
    'users, dispatches, documents, settings, templates, credits, ledger and audit log, and the company itself.',
  deletionNever: 'Nobody can take this back. What vendors and receivers hold stays with them.',
  deletionDo: 'Delete',
  deletionBegun: 'The deletion has begun. It goes on by itself, and ends some minutes later.',
  deletionStatus: 'Status',
  deletionIs_possible: 'not begun',
  deletionIs_impossible: 'not begun',
  deletionIs_running: 'running',
  deletionIs_finished: 'finished',
  deletionDigest: 'SHA-256 of the receipt',
  deletionOwn: 'A disabled company can be deleted with all that is its own.',
  auditStarted: 'Deletion of a company begun',
  auditDeleted: 'Company deleted'
}
