// The interface of `Synchronization` that comes with a toolchain for Linux has a lock made of these
// calls. They are never linked: `Scripts/check-apple` only has to find their names.
#pragma once

unsigned int _swift_stdlib_gettid(void);
unsigned int _swift_stdlib_futex_lock(unsigned int *lock);
unsigned int _swift_stdlib_futex_trylock(unsigned int *lock);
unsigned int _swift_stdlib_futex_unlock(unsigned int *lock);
