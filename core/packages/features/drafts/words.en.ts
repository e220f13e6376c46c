export const words = {
  drafts: 'Drafts',
  draftsIntro: 'What you have begun to write is kept here while you type, for 90 days. A draft that was sent goes a day later.',
  draftsNone: 'There is no draft. Whatever you begin to write under “Send” is kept here.',
  draftsDelete: 'Delete the drafts',
  draftId: 'Id of the draft',
  draftOf: 'Draft',
  draftAbout: 'Subject',
  draftAuthor: 'By',
  draftWritten: 'Last change',
  draftShared: 'shared',
  draftSent: 'sent',
  draftDeleteIntro: 'What was typed there is lost. What it has sent stays.',
  draftDelete: 'Delete',
  draftDeleteOf: 'Delete the draft of {at}'
}
