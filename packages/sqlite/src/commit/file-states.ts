import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { held, withoutConnections } from '../open/connection.ts';
import type { OpenedFile } from '../open/path.ts';
import { readCommitted } from '../open/wal.ts';

/** Notices that another program wrote to the files of an open database without SQLite, as `cp` and `: >` do. */
export class FileStates {
  readonly #file: OpenedFile;
  readonly #database: number;
  readonly #wal: number;
  readonly #walIndex: number;
  readonly #index = new Uint32Array(33);
  #last: { readonly checkpoint: string | symbol; readonly header: Buffer } | undefined;

  constructor(file: OpenedFile) {
    this.#file = file;
    this.#database = openSync(file.name, 'r');
    this.#wal = openSync(`${file.name}-wal`, 'r');
    this.#walIndex = openSync(`${file.name}-shm`, 'r');
    held.set([this.#database, this.#wal, this.#walIndex], 1);
  }

  /** Returns a message for the operator if another program did. Reads the WAL file if it may be damaged. */
  findChange(isDamaged: boolean): string | undefined {
    const { path, name } = this.#file;
    if (!this.#isDatabaseOfWal())
      return `${path} was overwritten or shortened while it was in use, and the newest plants are in ${name}-wal; stop the server, and move both files to another folder before you restore a backup`;
    // The second time, because another program may reset the WAL file between the two reads of the first time.
    const act =
      this.#findWalChange(isDamaged) && this.#readCheckpoint() && this.#findWalChange(isDamaged);
    return (
      act &&
      `${name}-${act} while it was in use, and plants that only it had can be lost; stop the server, copy ${path} and ${name}-wal to two other folders, check ${path} in one with the WAL file and in the other without it, and keep the one that has more plants`
    );
  }

  /** The descriptors stay open if closing them would release locks of another connection of this process. */
  close(): void {
    withoutConnections(this.#database, () => {
      for (const file of [this.#database, this.#wal, this.#walIndex]) closeSync(file);
    });
  }

  /** Whether the header is that of WAL mode and of the last checkpoint, and each page is in the file or the WAL file (sqlite.org/fileformat2.html#the_database_header). */
  #isDatabaseOfWal(): boolean {
    const header = this.#readHeader();
    if (header.readUInt16BE(18) !== 0x0202) return false;
    const checkpoint = this.#readCheckpoint();
    if (checkpoint !== this.#last?.checkpoint) {
      const found = { checkpoint, header: this.#readHeader() };
      if (checkpoint === this.#readCheckpoint()) this.#last = found;
    } else if (!this.#last.header.equals(header)) return false;
    const pageSize = pageSizeOf(header.readUInt16BE(16));
    const isComplete = () => fstatSync(this.#database).size >= header.readUInt32BE(28) * pageSize;
    if (isComplete()) return true;
    // A checkpoint writes the header first, and the WAL file has the other pages until its end.
    const firstMissing = Math.floor(fstatSync(this.#database).size / pageSize) + 1;
    return readCommitted(this.#file.name)?.hasFrom(firstMissing) === true || isComplete();
  }

  #readHeader(): Buffer {
    const header = Buffer.alloc(100);
    readSync(this.#database, header, 0, 100, 0);
    return header;
  }

  /** Reads the WAL-index (sqlite.org/walformat.html#the_wal_index_header). Identifies the last checkpoint: an incomplete one equals no other. */
  #readCheckpoint(): string | symbol {
    const words = this.#index;
    // Windows does not promise that a read of the file returns what is mapped.
    if (process.platform !== 'win32') readSync(this.#walIndex, words, 0, 132, 0);
    // The salts of the WAL file, and how many frames are copied and are being copied. A new WAL-index has no version.
    const isComplete = words[0] !== 0 && words[24] === words[32];
    return isComplete ? [words[8], words[9], words[24]].join() : Symbol('incomplete');
  }

  /** Returns what was done to a WAL file that lacks intact frames of the WAL-index, or has other salts. */
  #findWalChange(isDamaged: boolean): string | undefined {
    const pageSize = pageSizeOf(new Uint16Array(this.#index.buffer)[7] ?? 0);
    const frames = this.#index[4] ?? 0;
    if (frames === 0) return undefined;
    if (fstatSync(this.#wal).size < 32 + frames * (24 + pageSize)) return 'wal was shortened';
    const salts = new Uint32Array(2);
    readSync(this.#wal, salts, 0, 8, 16);
    const isOfIndex = salts.join() === this.#index.subarray(8, 10).join();
    const intact = isDamaged ? (readCommitted(this.#file.name)?.frames ?? 0) : frames;
    return isOfIndex && intact >= frames ? undefined : 'wal or -shm was overwritten';
  }
}

const pageSizeOf = (stored: number): number => (stored === 1 ? 65_536 : stored);
