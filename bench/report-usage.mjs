// Loaded into every measured process before its own code: replies with what the process has used so far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, residentMiB: process.memoryUsage.rss() / 2 ** 20 });
});
process.channel.unref();
