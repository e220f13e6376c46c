export const words = {
  files: 'Files',
  filesIntro:
    'Files that go with what you send, such as terms beside an invoice: the form of what you send offers them. A file is kept for 24 ' +
    'hours, and for 30 days once it was sent.',
  filesBack: 'Back to what you are sending: choose the file there.',
  filesNone: 'There is no file.',
  fileChosen: 'File',
  fileHelp: '50 MiB at most.',
  fileUpload: 'Upload',
  fileUploaded: 'The file is there. Its id is {id}.',
  fileRefused: 'The file was not taken.',
  fileName: 'Name',
  fileId: 'Id',
  fileType: 'Type',
  fileSize: 'Size',
  fileExpires: 'Kept until',
  filesRemove: 'Remove the files',
  fileRemove: 'Remove',
  fileRemoveOf: 'Remove {name}',
  fileWaiting: 'What waits and needs it',
  fileRemoveIntro: 'What names it and is not sent yet fails. The file must be uploaded again to be sent.'
}
