// What swift-argument-parser needs of <os/lock.h>.
#pragma once

typedef struct { unsigned int opaque; } os_unfair_lock;
void os_unfair_lock_lock(os_unfair_lock *lock);
void os_unfair_lock_unlock(os_unfair_lock *lock);
