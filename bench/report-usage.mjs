// Preloaded into every measured process: replies with its CPU time and memory.
process.on('message', (message) => {
  if (message === 'usage after collection') {
    // Loaded only now, because a start is measured, too.
    process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc');
    const collect = process.getBuiltinModule('node:vm').runInNewContext('gc');
    // The second collection also frees what the finalizers of the first released.
    collect();
    collect();
  }
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, residentMiB: process.memoryUsage.rss() / 2 ** 20 });
});
process.channel.unref();
